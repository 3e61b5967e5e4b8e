import { afterAll } from "vitest";
import { hostClock } from "../../packages/service/src/providers/host-clock.ts";

// Test files share processes, and a process has one comparison of clocks: upstreams of one file that state a wrong date would make
// the services of the next ones doubt their clock.
afterAll(() => hostClock.forget());
