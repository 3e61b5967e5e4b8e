import { createHmac } from "node:crypto";

/*
 * The Moon, a rail that there is not. It is paid in shells, by IOUs: its drawer seals an IOU with a secret, and its serial
 * number is the payment's. A paid IOU lies in a crater, and craters are numbered from 1.
 */

export type Iou = { serial: string; drawer: string; bearer: string; shells: string; seal: string };

export const NETWORK = "moon:sea-of-tranquility";
export const ASSET = "shells";

export function sealOf({ serial, drawer, bearer, shells }: Omit<Iou, "seal">): string {
  return createHmac("sha256", drawer).update(`${serial} ${bearer} ${shells}`).digest("hex");
}
