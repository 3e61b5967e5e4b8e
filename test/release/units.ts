import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "@attestd/sandbox";
import { buy } from "../../bench/purchase.ts";
import { type Networks, startNetworks } from "../../bench/server.ts";
import { readSettingsFile, tomlOf } from "../../packages/service/src/config/settings-file.ts";
import { merged, type Table } from "../../packages/service/test/settings.ts";
import { keysOf, kmsEnvironment, kmsSettings, startKmsProcess } from "../crash/kms-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { ARCHIVES, NotTried, run } from "./files.ts";
import { type System, startSystem } from "./systemd.ts";

/** How much a unit may expose, in tenths, as systemd-analyze counts: 0 is best, 100 worst. */
const EXPOSURE = { "attestd.service": 15, "attestd-signer.service": 10 };
const DROP_INS = ["seeds.conf", "falcon-seeds.conf", "socket.conf"];
const COPY = { recursive: true, verbatimSymlinks: true };
const START_MS = 20_000;
/** A user of whom no system has a record. */
const STRANGER = "61999";

/** Has systemd-analyze read the units, with each drop-in, and count what they leave open. @throws Error for any complaint */
export async function unitsAnalysed(unpacked: string): Promise<string> {
  if (spawnSync("systemd-analyze", ["--version"]).error) throw new NotTried("there is no systemd-analyze on PATH");
  await using folder = await temporaryFolder();
  const root = `--root=${folder.path}`;
  const own = join(folder.path, "etc/systemd/system");
  const top = join(unpacked, ARCHIVES.top);
  cpSync("/usr/lib/systemd/system", join(folder.path, "usr/lib/systemd/system"), COPY);
  cpSync(join(top, "bin"), join(folder.path, "opt/attestd/bin"), COPY);
  cpSync(join(top, "systemd"), own, COPY);
  const levels = new Set<string>();
  for (const dropIn of DROP_INS) {
    cpSync(join(own, dropIn), join(own, "attestd.service.d", dropIn));
    for (const [unit, most] of Object.entries(EXPOSURE)) {
      analyse("verify", "--man=no", root, unit);
      const text = analyse("security", "--offline=yes", `--threshold=${most}`, root, "--no-pager", unit);
      levels.add(`${unit} ${text.match(/exposure level for \S+: ([\d.]+)/)?.[1]}`);
    }
    rmSync(join(own, "attestd.service.d"), { recursive: true });
  }
  return `exposure ${[...levels].join(", ")}`;
}

/** @throws Error also when it succeeds and complains */
function analyse(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
  if (status === 0 && stderr === "") return stdout;
  throw new Error(`systemd-analyze ${args.join(" ")}: ${status}\n${stdout}${stderr}`);
}

/**
 * Installs the units of the archive as docs/installing.md and docs/signer.md say, in a system that systemd has started, with the networks
 * of a sandbox; buys an attestation with each kind of signer, and runs an operator's commands as root beside them.
 */
export async function unitsRun(unpacked: string): Promise<string> {
  await using networks = await startNetworks(1000);
  const { tables } = readSettingsFile(networks.settingsFile, {});
  const { mnemonic } = networks.sandbox.attestor;
  const kms = await startKmsProcess(Object.values(keysOf("aws", mnemonic)));
  try {
    await using folder = await temporaryFolder();
    const files = filesOf(unpacked, tables, networks.sandbox, kms.url);
    await using system = await startSystem(folder.path, join(unpacked, ARCHIVES.top), files);
    await withSeeds(system, networks);
    await operated(system, networks);
    await withSigner(system, networks);
    await withKms(system, networks);
    const lines = readFileSync(system.shared("attestd.log"), "utf8").split("\n");
    const degraded = lines.filter((line) => /^[⚠✕]/.test(line));
    if (degraded.length > 0) throw new Error(degraded.join("\n"));
  } finally {
    await kms.kill();
  }
  return run("systemctl", ["--version"]).split(" ", 2).join(" ");
}

/** Installs a file of the archive. @param folder below systemd's for units */
function install(system: System, name: string, folder = ""): Promise<string> {
  const units = `/etc/systemd/system/${folder}`;
  return system.run(`install -D -m 644 -t ${units} /opt/attestd/systemd/${name}; systemctl daemon-reload`);
}

async function withSeeds(system: System, networks: Networks): Promise<void> {
  await install(system, "attestd.service");
  await install(system, "seeds.conf", "attestd.service.d");
  await system.run("systemctl start attestd");
  await sells(system, networks);
  await confined(system, "attestd.service", ["attestd.toml", "attestor.mnemonic", "attestor.pq-seed"]);
}

/** Runs commands as root, beside the service and after it. What they leave must be the service's. */
async function operated(system: System, networks: Networks): Promise<void> {
  const attestd = (line: string) =>
    system.run(`/opt/attestd/bin/attestd ${line} --sandbox --settings /etc/attestd/attestd.toml`);
  await attestd("audit");
  await attestd("backup --to /root/backup");
  await system.run("systemctl stop attestd");
  await attestd("audit");
  await attestd("prune --days 365");
  await system.run("systemctl start attestd");
  await sells(system, networks);
  await system.run("systemctl stop attestd; mkdir /root/old; mv /var/lib/attestd/journal.sqlite* /root/old");
  await attestd("restore /root/backup");
  await system.run("chown --recursive --reference=/var/lib/attestd/ /var/lib/attestd/; systemctl start attestd");
  await sells(system, networks);
  // As on another machine, where systemd has made no folder yet.
  await system.run("systemctl stop attestd; rm -r /var/lib/attestd /var/lib/private/attestd");
  await attestd("restore /root/backup");
  await system.run("systemctl start attestd");
  await sells(system, networks);
  await system.run("systemctl stop attestd");
}

async function withSigner(system: System, networks: Networks): Promise<void> {
  await system.run("groupadd --system --force attestd-socket; mkdir -m 700 /etc/attestd-signer");
  await system.run("cd /etc/attestd; mv attestor.* ../attestd-signer; mv attestd.toml.socket attestd.toml");
  await system.run("rm /etc/systemd/system/attestd.service.d/seeds.conf");
  await install(system, "attestd-signer.service");
  await install(system, "socket.conf", "attestd.service.d");
  await system.run("systemctl start attestd");
  await sells(system, networks);
  await confined(system, "attestd.service", ["attestd.toml"]);
  await confined(system, "attestd-signer.service", []);
  const connect = `require("net").connect("/run/attestd-signer/signer.sock")`;
  const script = `${connect}.on("connect", () => process.exit(9)).on("error", ({ code }) => console.log(code))`;
  const met = await system.run(`${as(STRANGER)} /opt/attestd/lib/node -e '${script}'`);
  if (met.trim() !== "EACCES") throw new Error(`a stranger at the signer's socket: ${met}`);
  await system.run("systemctl restart attestd-signer");
  await sells(system, networks);
  await system.run("systemctl stop attestd attestd-signer; rm /etc/systemd/system/attestd.service.d/socket.conf");
}

async function withKms(system: System, networks: Networks): Promise<void> {
  // Its ML-DSA-65 key is another.
  await system.run("rm /var/lib/attestd/*; mv /etc/attestd/attestd.toml.kms /etc/attestd/attestd.toml");
  await system.run("systemctl daemon-reload; systemctl start attestd");
  await sells(system, networks);
  await confined(system, "attestd.service", ["attestd.toml"]);
}

/** The settings of a service with each kind of signer, its keys, and what makes the units fit for a sandbox: they are for MainNet. */
function filesOf(
  unpacked: string,
  of: Table,
  { attestor, genesisHash }: Sandbox,
  kmsUrl: string,
): Record<string, string> {
  const journal = { url: "sqlite:/var/lib/attestd/journal.sqlite" };
  const none = { mnemonic: undefined, pq_seed: undefined };
  const text = (own: Table) =>
    tomlOf(merged(of, { journal, checkpoint_table: undefined, log_level: "info", attestor: { ...none, ...own } }));
  const unit = readFileSync(join(unpacked, ARCHIVES.top, "systemd/attestd.service"), "utf8");
  const [start] = unit.match(/^ExecStart=.*$/m) as [string];
  const output = (name: string) => `StandardOutput=append:/shared/${name}.log\nStandardError=inherit\n`;
  return {
    "etc/attestd/attestd.toml": text({ mnemonic: "file:attestor.mnemonic", pq_seed: "file:attestor.pq-seed" }),
    "etc/attestd/attestd.toml.socket": text({ signer: "socket", socket: "/run/attestd-signer/signer.sock" }),
    "etc/attestd/attestd.toml.kms": text(kmsSettings("aws", kmsUrl)),
    "etc/attestd/attestor.mnemonic": `${attestor.mnemonic}\n`,
    "etc/attestd/attestor.pq-seed": `${randomBytes(32).toString("hex")}\n`,
    "etc/systemd/system/attestd.service.d/sandbox.conf": `[Service]
ExecStart=
${start} --sandbox
${Object.entries(kmsEnvironment(kmsUrl))
  .map(([name, value]) => `Environment=${name}=${value}\n`)
  .join("")}${output("attestd")}`,
    "etc/systemd/system/attestd-signer.service.d/sandbox.conf": `[Service]
Environment="SIGNER_OPTIONS=--genesis-hash ${genesisHash}"
${output("attestd-signer")}`,
  };
}

/** Waits until the service can sell, and buys from it. @throws Error with its log when it cannot within 20 s */
async function sells(system: System, networks: Networks): Promise<void> {
  const log = () => readFileSync(system.shared("attestd.log"), "utf8");
  for (let left = START_MS / 100; left > 0; left--) {
    await pause(100);
    const url = [...log().matchAll(/"url":"([^"]+)"/g)].at(-1)?.[1];
    const ready = await fetch(`${url}/ready`).catch(() => undefined);
    if (!ready?.ok) continue;
    await buy({ url: url as string }, networks);
    return;
  }
  throw new Error(
    `the service does not sell:\n${await system.run("systemctl status --no-pager attestd || true")}${log()}`,
  );
}

/**
 * @param files what the service finds in /etc/attestd
 * @throws Error unless it runs as nobody known, without any right, and sees what it should; a stranger sees none of it
 */
async function confined(system: System, unit: string, files: readonly string[]): Promise<void> {
  const pid = (await system.run(`systemctl show --property MainPID --value ${unit}`)).trim();
  const status = await system.run(`cat /proc/${pid}/status`);
  const of = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1];
  const [uid, gid] = [of("Uid"), of("Gid")];
  const rights = { CapBnd: of("CapBnd"), Seccomp: of("Seccomp"), NoNewPrivs: of("NoNewPrivs"), Umask: of("Umask") };
  const expected = { CapBnd: "0".repeat(16), Seccomp: "2", NoNewPrivs: "1", Umask: "0077" };
  if (JSON.stringify(rights) !== JSON.stringify(expected) || Number(uid) < 61_184)
    throw new Error(`${unit} runs as ${uid} with ${JSON.stringify(rights)}`);
  const within = `nsenter --target ${pid} --mount ${as(uid, gid)}`;
  const secrets = "/etc/attestd/* /etc/attestd-signer/* /run/credentials/*/*";
  const readable = async (by: string, paths: string) => {
    const line = `for at in ${paths}; do if cat $at > /dev/null 2>&1; then echo $at; fi; done`;
    return (await system.run(`${by} sh -c '${line}'`)).split("\n").filter(Boolean);
  };
  const own = files.map((name) => `/etc/attestd/${name}`);
  const seen = (await readable(within, secrets)).filter((path) => !path.startsWith(`/run/credentials/${unit}`));
  const bySelf = await readable(as(uid, gid), secrets.replace("/run/credentials/*/*", ""));
  const byStranger = await readable(as(STRANGER), secrets);
  if (seen.join() !== own.join() || bySelf.length + byStranger.length > 0)
    throw new Error(`${unit} can read ${seen}; its user elsewhere ${bySelf}; a stranger ${byStranger}`);
  await system.run(`if ${within} touch /usr/new /etc/new /var/new /opt/new 2> /dev/null; then exit 9; fi`);
}

/** The beginning of a line that runs the rest as another user. */
function as(uid = "", gid = uid): string {
  return `setpriv --reuid ${uid} --regid ${gid} --clear-groups`;
}
