import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { type CallEvent, reduce } from "../packages/service/src/calls/machine.ts";
import { sqliteCommands } from "../packages/service/src/journal/sqlite/commands.ts";
import { openSqliteJournal } from "../packages/service/src/journal/sqlite/journal.ts";
import { movedRow, newRow } from "../packages/service/src/journal/sqlite/rows.ts";
import { migrate } from "../packages/service/src/journal/sqlite/schema.ts";
import { aCall, anAttempt } from "../packages/service/test/fakes/calls.ts";
import { type Effort, inTurns, judge, type Row, timed } from "./measure.ts";

const CALLERS = 64;

type Call = ReturnType<typeof aCall>;
type Write = { insert(call: Call): Promise<unknown>; update(call: Call): Promise<unknown> };

/**
 * Calls a second that 64 callers commit, from settling to done, beside the same commands with a commit for each, on the event loop.
 */
export async function run(effort: Effort): Promise<Row[]> {
  const dir = await mkdtemp(join(tmpdir(), "attestd-bench-"));
  const journal = await openSqliteJournal(join(dir, "ours.sqlite"));
  const plain = openPlain(join(dir, "plain.sqlite"));
  try {
    const rates = await inTurns(
      effort,
      () => rateOf(journal, effort.payments),
      () => rateOf(plain, effort.payments),
    );
    return [judge("journal-rate", "calls/s", rates, "share", { atLeast: 4 })];
  } finally {
    await journal.close();
    plain.close();
    await rm(dir, { recursive: true });
  }
}

let made = 0;

function nextCall(): Call {
  return aCall({ key: `bench/${made++}` });
}

/** Text that zstd does not shorten, as signatures are. */
const base64 = (bytes: number) => randomBytes(bytes).toString("base64");

/** What is committed of a call that goes well, in the size that a call on Algorand has: two ML-DSA-65 signatures, and a note. */
function courseOf({ key }: Call): CallEvent[] {
  const name = `ATTEST ${key}`;
  const body = JSON.stringify({ note: base64(300), sigBase64: base64(3_309) });
  const receipt = Buffer.from(JSON.stringify({ success: true, signature: base64(3_309) })).toString("base64");
  return [
    { type: "payment_proved", proof: { transaction: key, height: 9, final: true }, receipt: "e30=" },
    { type: "attestation_signed", attempt: { ...anAttempt(name), raw: new Uint8Array(randomBytes(400)) } },
    { type: "attestation_confirmed", txid: name, round: 12 },
    { type: "bundle_sealed", bundle: { id: `S ${key}`, body }, receipt },
  ];
}

/** @returns calls a second that are committed from the first time to the last */
async function rateOf(write: Write, calls: number): Promise<number> {
  let left = calls;
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (left-- > 0) {
          let call = nextCall();
          await write.insert(call);
          for (const event of courseOf(call)) {
            const after = reduce(call, event);
            if (after.version > call.version) await write.update(after);
            call = after;
          }
        }
      }),
    ),
  );
  return (calls * 1000) / ms;
}

/** The journal's own tables and commands with the same durability, on this thread, a commit for each command. */
function openPlain(path: string): Write & { close(): void } {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  migrate(db);
  const commands = sqliteCommands(db);
  const commit = async (work: () => unknown) => {
    db.exec("BEGIN IMMEDIATE");
    work();
    db.exec("COMMIT");
    await setImmediate();
  };
  return {
    insert: (call) => commit(() => commands.insert(newRow(call))),
    update: (call) => commit(() => commands.update(movedRow(call))),
    close: () => db.close(),
  };
}
