import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import { excerpt } from "@attestd/proof/text";

/**
 * Returns the name under which a client's requests are counted. It is the IPv4 address, also when mapped to IPv6, or
 * the first 64 bits of an IPv6 address, because one client has all the rest (RFC 4291, 2.5.4; RFC 6177).
 * @param address from a socket or a proxy: with or without brackets, a port or a zone
 * @returns an excerpt of the text if it is not an address
 */
export function clientName(address: string): string {
  const bare = withoutPort(address.trim());
  if (isIPv4(bare)) return bare;
  const [ip = ""] = bare.split("%", 1);
  if (!isIPv6(ip)) return excerpt(bare);
  const groups = groupsOf(ip);
  const [, , , , , sixth = 0, high = 0, low = 0] = groups;
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && sixth === 0xffff;
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/**
 * Returns the name of the client that sent a request.
 * @param trustProxy whether the operator's proxy names the client in X-Forwarded-For. It appends the address that it
 *   sees; the client may have made up the addresses before it
 */
export function clientOf(
  { headers, socket }: Pick<IncomingMessage, "headers" | "socket">,
  trustProxy: boolean,
): string {
  const forwarded = trustProxy ? [headers["x-forwarded-for"]].flat().join(",").split(",").at(-1)?.trim() : "";
  return clientName(forwarded || (socket.remoteAddress ?? "unknown"));
}

function withoutPort(address: string): string {
  if (address.startsWith("[")) return address.slice(1, address.indexOf("]", 1) >>> 0);
  const [host = "", port, more] = address.split(":", 3);
  return port !== undefined && more === undefined ? host : address;
}

/** Splits an address into eight groups of 16 bits. @param ip a valid IPv6 address (RFC 4291, 2.2) */
function groupsOf(ip: string): number[] {
  // `URL` normalizes an address, including an IPv4 address at its end.
  const [head = "", tail] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split("::");
  const [before, after] = [numbers(head), numbers(tail ?? "")];
  return tail === undefined ? before : [...before, ...Array(8 - before.length - after.length).fill(0), ...after];
}

function numbers(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}
