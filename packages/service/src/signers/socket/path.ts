import { lstatSync } from "node:fs";
import { realpath, stat, unlink } from "node:fs/promises";
import { createConnection } from "node:net";
import { basename, dirname, join } from "node:path";

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Frees a path for a socket. Nobody else may be able to replace what is there, and a socket that a dead process left is
 * removed.
 * @throws Error when others may write there, another signer listens, or something else is there
 */
export async function claimPath(path: string): Promise<void> {
  const folder = await realpath(dirname(path));
  await requireOwn(folder);
  const place = join(folder, basename(path));
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${place} already exists, and is not a socket: choose another path.`);
  if (await answers(place)) throw new Error(`Another process listens at ${place}: stop it first.`);
  await unlink(place);
}

/** @throws Error when another user could replace what is in the folder */
async function requireOwn(folder: string): Promise<void> {
  const own = process.getuid?.();
  for (let at = folder; ; at = dirname(at)) {
    const { mode, uid } = await stat(at);
    const isOwn = uid === own || uid === 0;
    // In a sticky folder above, such as /tmp, others cannot rename our files; in the socket's own folder they could
    // create the socket first.
    const isOpen = (mode & GROUP_OR_OTHERS_WRITE) !== 0 && (at === folder || (mode & STICKY) === 0);
    if (!isOwn || isOpen)
      throw new Error(`Others may write in ${at}: put the socket into a folder of its own, of mode 0700 or 0750.`);
    if (at === dirname(at)) return;
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") resolve(false);
      else reject(error);
    });
  });
}
