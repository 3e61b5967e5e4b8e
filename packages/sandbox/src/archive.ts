import { chmodSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** One network's part of an archive. */
export interface NetworkArchive {
  /** Returns the value that is kept under the name; if there is none, keeps and returns the one that `make` gives. */
  keep<T>(name: string, make: () => T): T;
  /** Returns everything that was added, in order. */
  records(): Uint8Array[];
  /** Returns the greatest height that was added or noted; undefined before the first. */
  height(): number | undefined;
  /** @param isSpare whether a later start may delete it, when `SPARE_RECORDS` newer heights have been added */
  add(height: number, record: Uint8Array, isSpare?: boolean): void;
  /** Notes a height that has no record. */
  note(height: number): void;
  /** Calls a synchronous function whose changes are kept all together or not at all. */
  whole<T>(change: () => T): T;
}

/** What a sandbox keeps from one start to the next. */
export type Archive = ReturnType<typeof openArchive>;

/** The archive of a sandbox that keeps nothing. */
export const NO_ARCHIVE: NetworkArchive = {
  keep: (_, make) => make(),
  records: () => [],
  height: () => undefined,
  add: () => undefined,
  note: () => undefined,
  whole: (change) => change(),
};

/** How many of the newest heights keep their spare records, like a node's last thousand rounds. */
const SPARE_RECORDS = 1000;

/** `application_id` of the file, "asb2". */
const APPLICATION = 0x61736232;

const SCHEMA = `
  CREATE TABLE kept (network TEXT, name TEXT, value TEXT NOT NULL, PRIMARY KEY (network, name)) STRICT;
  CREATE TABLE records (
    id INTEGER PRIMARY KEY, network TEXT NOT NULL, height INTEGER NOT NULL, spare INTEGER NOT NULL, record BLOB NOT NULL
  ) STRICT;
  CREATE TABLE heights (network TEXT PRIMARY KEY, height INTEGER NOT NULL) STRICT;
  PRAGMA application_id = ${APPLICATION};`;

/**
 * Opens the archive in a file, which is created if it does not exist. It contains the sandbox's keys: mode 0600. SQLite
 * keeps it consistent whenever the process is killed; a power cut may lose the last seconds.
 * @throws Error when the file is damaged, or not an archive
 */
export function openArchive(path: string) {
  using opening = new DisposableStack();
  const database = opening.adopt(new DatabaseSync(path), (opened) => opened.close());
  chmodSync(path, 0o600);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  const { application_id: application } = database.prepare("PRAGMA application_id").get() ?? {};
  if (application === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
  else if (application !== APPLICATION) throw new Error("it is not a file of a sandbox");
  const { quick_check: state } = database.prepare("PRAGMA quick_check(1)").get() ?? {};
  if (state !== "ok") throw new Error("its contents are damaged");
  database
    .prepare(
      "DELETE FROM records WHERE spare = 1 AND height <= (SELECT height FROM heights h WHERE h.network = records.network) - ?",
    )
    .run(SPARE_RECORDS);
  const { promise: broken, resolve: breakWith } = Promise.withResolvers<string>();
  let isBroken = false;
  // Timers make blocks, and nobody awaits them: an error is reported to the sandbox's owner. No gap may follow.
  const unlessBroken = (write: () => void) => {
    if (isBroken) return;
    try {
      write();
    } catch (error) {
      isBroken = true;
      breakWith(`${path} cannot be written: ${(error as Error).message}`);
    }
  };
  opening.move();
  return {
    of: (network: "algorand" | "base" | "solana") => networkArchive(database, network, unlessBroken),
    /** Resolves with the reason when something could not be kept, as on a full disk; nothing later is kept either. */
    broken,
    close: () => database.close(),
  };
}

function networkArchive(
  database: DatabaseSync,
  network: string,
  unlessBroken: (write: () => void) => void,
): NetworkArchive {
  const read = database.prepare("SELECT value FROM kept WHERE network = ? AND name = ?");
  const write = database.prepare("INSERT INTO kept VALUES (?, ?, ?)");
  const list = database.prepare("SELECT record FROM records WHERE network = ? ORDER BY id");
  const insert = database.prepare("INSERT INTO records (network, height, spare, record) VALUES (?, ?, ?, ?)");
  const highest = database.prepare("SELECT height FROM heights WHERE network = ?");
  const raise = database.prepare(
    "INSERT INTO heights VALUES (?, ?) ON CONFLICT DO UPDATE SET height = max(height, excluded.height)",
  );
  const archive: NetworkArchive = {
    keep(name, make) {
      const found = read.get(network, name);
      if (found) return JSON.parse(String(found.value));
      const value = make();
      write.run(network, name, JSON.stringify(value));
      return value;
    },
    records: () => list.all(network).map(({ record }) => record as Uint8Array),
    height: () => highest.get(network)?.height as number | undefined,
    add(height, record, isSpare = false) {
      // First, so that no height is used twice when the record does not fit.
      archive.note(height);
      unlessBroken(() => insert.run(network, height, isSpare ? 1 : 0, record));
    },
    note: (height) => unlessBroken(() => raise.run(network, height)),
    whole(change) {
      database.exec("BEGIN IMMEDIATE");
      try {
        const result = change();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        // After some errors, such as a full disk, SQLite has already rolled back.
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
  };
  return archive;
}
