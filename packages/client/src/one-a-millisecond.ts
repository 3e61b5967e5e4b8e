/**
 * Runs actions one after another, each in milliseconds of its own: all that tells one stock Algorand payment from the
 * next is a time stamp in its note, and two signed in the same millisecond would be one payment for two calls.
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
