import type { RailKind } from "../../../src/payment/rails/rail-kind.ts";
import { RAILS } from "../../../src/payment/rails/registry.ts";
import { MOON_RAIL } from "./kind.ts";

/* The line that the Moon takes in the registry. */

(RAILS as RailKind[]).push(MOON_RAIL as RailKind);
