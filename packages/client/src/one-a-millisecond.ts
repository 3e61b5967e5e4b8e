/**
 * Runs actions one after another, never two in one millisecond: stock Algorand payments differ only in the time stamp
 * in their notes, and two signed in the same millisecond would be one payment for two calls.
 */
export function oneAMillisecond(): <T>(action: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (action) => {
    const result = turn.then(action);
    turn = result.catch(() => undefined).then(nextMillisecond);
    return result;
  };
}

async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1));
}
