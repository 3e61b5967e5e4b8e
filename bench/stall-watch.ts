/**
 * Measures how long the event loop of this process works without a turn, in CPU time of its thread, so that what else the
 * machine does is not counted. Answers every message of the parent with the longest stall since the one before, in ms.
 */
export function watchStalls(): void {
  let last = cpuTime();
  let longest = 0;
  // A timer has its turn once in every round of the loop.
  setInterval(() => {
    const now = cpuTime();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  process.on("message", () => {
    process.send?.({ stall: longest });
    longest = 0;
    last = cpuTime();
  });
  process.once("disconnect", () => process.exit());
}

/** Of this thread, in ms. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
