import { createHash, randomBytes } from "node:crypto";
import { constants, link, mkdir, open, rmdir, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { StoredPayment, Vault } from "./vault.ts";

export interface FileVault extends Vault {
  /** Returns the path of an id's file, whether the file exists or not. */
  path(id: string): string;
}

/**
 * Keeps each payment in its own file, mode 0600, in a folder of mode 0700, which several processes may share.
 * @param folder absolute path; created when first needed
 */
export function fileVault(folder: string): FileVault {
  const path = (id: string) => join(folder, `${createHash("sha256").update(id).digest("hex").slice(0, 32)}.json`);

  const get = async (id: string): Promise<StoredPayment | undefined> => {
    const text = await textOf(path(id)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    return text === undefined ? undefined : readPayment(text, path(id));
  };

  return {
    path,
    get,
    async put(id, payment) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const draft = `${path(id)}.${randomBytes(6).toString("hex")}`;
      await writeFile(draft, JSON.stringify(payment), { mode: 0o600, flag: "wx", flush: true });
      try {
        // A hard link is created atomically and never replaces a file: the first of several callers wins.
        await link(draft, path(id));
        await syncFolder(folder);
        return payment;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return (await get(id)) ?? this.put(id, payment);
      } finally {
        await unlink(draft);
      }
    },
    async remove(id, payment) {
      const isStored = async () => (await get(id))?.header === payment.header;
      // Under the lock: another process may remove the same payment and store its own between the check and the
      // removal.
      if (await isStored())
        await alone(`${path(id)}.lock`, async () => {
          if (await isStored()) await unlink(path(id));
        });
    },
  };
}

/** How often a held lock is tried, and when its holder counts as killed, in ms. */
const LOCK_PAUSE_MS = 5;
const LOCK_STALE_MS = 10_000;

/** Runs a short action under a lock that all processes share. @param lock a folder that is created as the lock */
async function alone(lock: string, run: () => Promise<void>): Promise<void> {
  while (!(await made(lock))) {
    const held = await stat(lock).catch(() => undefined);
    if (held && Date.now() - held.mtimeMs > LOCK_STALE_MS) await rmdir(lock).catch(() => undefined);
    else await sleep(LOCK_PAUSE_MS);
  }
  try {
    await run();
  } finally {
    await rmdir(lock).catch(() => undefined);
  }
}

/** Creates a folder. @returns whether it did not exist */
async function made(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** The limit of a stored payment. With every extension on offer it has some 100 kB. */
const MAX_BYTES = 2 ** 20;

/** Reads a regular file. Someone else may have put a pipe or a device there, from which reading would never end. */
async function textOf(path: string): Promise<string> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  await using handle = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  const stats = await handle.stat();
  if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error(`${path} is not a stored payment.`);
  return handle.readFile("utf8");
}

/** @throws when the text is not a stored payment: no other payment may be signed then */
function readPayment(text: string, path: string): StoredPayment {
  let value: Partial<StoredPayment> | null;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path} is not JSON.`, { cause });
  }
  const { version, header, request, offer, until } = value ?? {};
  if (version !== 1 || typeof header !== "string" || !request || !offer || !Number.isFinite(until)) {
    throw new Error(`${path} is not a stored payment.`);
  }
  return value as StoredPayment;
}

/** Syncs a folder: until then a new name in it may not survive a power cut (fsync(2)). */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
