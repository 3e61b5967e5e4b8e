import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, startSandbox } from "@attestd/sandbox";
import algosdk from "algosdk";
import { mountSmallDisk } from "../../packages/service/test/fakes/small-disk.ts";
import { type Table, withOver } from "../../packages/service/test/settings.ts";
import { buy, priceOf } from "../crash/buyer.ts";
import { type Deployment, newDeployment } from "../crash/deployment.ts";
import { type FaultProxy, startFaultProxy } from "../crash/fault-proxy.ts";
import { type FreeRequest, freeRequests, SOAK_LOAD } from "../crash/free-requests.ts";
import { payerOf, RAILS, type RailName } from "../crash/payers.ts";
import { createStarter, createTurns, type ServiceProcess } from "../crash/process.ts";
import { requestFor, SUBJECTS } from "../crash/subjects.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const ROUND_MS = 1_000;
/** MiB of the journal's disk: little more than the 2,048 below which the rules alert. The disk is in memory. */
const DISK_MIB = 2_120;
const BALLAST_MIB = 128;
/** microAlgos: the account's minimum balance and the service's reserve, and the fee of an attestation or a transfer. */
const KEPT = 200_000n;
const FEE = 1_000n;
/** Pause of a client after a request that failed, in ms. */
const RETRY_MS = 200;

/** A service in a process of its own, on the sandbox's networks, that sells on every rail all the time. */
export type Stage = AsyncDisposable & {
  proxies: Deployment["proxies"] & { secondBase: FaultProxy };
  /** What was bought and delivered until now. */
  delivered(): number;
  /** Why the journal's disk cannot be filled here. */
  noDisk?: string;
  fillDisk(): Promise<void>;
  emptyDisk(): Promise<void>;
  /** Leaves the attestor's account as many attestations. */
  affordOnly(attestations: bigint): Promise<void>;
  stopService(): Promise<void>;
  startService(): Promise<void>;
  /** Starts the service anew. @param over settings that replace its own until the next start */
  restartService(over?: Table): Promise<void>;
};

/** @param adminPort where the service serves its metrics */
export async function openStage(adminPort: number): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const sandbox = await startSandbox({ roundMs: ROUND_MS });
  opened.defer(() => sandbox.close());
  const disk = await mountSmallDisk(DISK_MIB);
  const folder = "reason" in disk ? await temporaryFolder() : disk;
  opened.use(folder);
  const deployment = await newDeployment(sandbox, `sqlite:${join(folder.path, "data", "journal.sqlite")}`);
  opened.defer(() => deployment.close());
  const secondBase = await startFaultProxy(sandbox.baseRpcUrl as string);
  opened.defer(() => secondBase.close());
  const settings = withOver(deployment.settings, {
    admin: { port: adminPort },
    chains: { base: { rpc: [deployment.proxies.base.url, secondBase.url] } },
  });
  const start = createStarter(createTurns());
  let service: ServiceProcess = await start(settings);
  opened.defer(() => service.kill());
  const load = await startLoad(sandbox, () => service.url);
  opened.defer(load.stop);
  const ballast = join(folder.path, "ballast");
  const running = opened.move();
  return {
    proxies: { ...deployment.proxies, secondBase },
    delivered: load.delivered,
    ...("reason" in disk && { noDisk: disk.reason }),
    fillDisk: () => writeFile(ballast, new Uint8Array(BALLAST_MIB * 2 ** 20)),
    emptyDisk: () => writeFile(ballast, ""),
    affordOnly: (attestations) => affordOnly(sandbox, deployment.accounts.attestor, attestations),
    stopService: () => service.kill(),
    async startService() {
      service = await start(settings);
    },
    async restartService(over = {}) {
      await service.kill();
      service = await start(withOver(settings, over));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The soak's load: buyers on every rail, and clients that send free requests. What fails during an incident is sent again. */
async function startLoad(sandbox: Sandbox, url: () => string) {
  const stop = new AbortController();
  const { signal } = stop;
  let delivered = 0;
  const pay = payerOf(sandbox);
  const free = await freeRequests(sandbox, url(), signal);
  const purchase = async (n: number) => {
    const request = await requestFor(
      sandbox,
      SUBJECTS[Math.floor(n / RAILS.length) % SUBJECTS.length] ?? "transaction",
    );
    const payment = await pay(RAILS[n % RAILS.length] as RailName, await priceOf(url(), request, signal));
    const { status } = await buy(url, request, payment, signal);
    if (status === 200) delivered += 1;
  };
  const ask = async (n: number) => {
    const { path, init } = free[n % free.length] as FreeRequest;
    await fetch(url() + path, { ...init, signal }).then((answer) => answer.arrayBuffer());
  };
  const repeat = async (work: (n: number) => Promise<void>, first: number, step: number, pauseMs: number) => {
    for (let n = first; !signal.aborted; n += step) {
      // While the service is down, nothing can be asked for.
      const failed = await work(n).then(
        () => false,
        () => true,
      );
      await sleep(failed ? RETRY_MS : pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const { buyers, freeClients, pauseMs } = SOAK_LOAD;
  const clients = [
    ...Array.from({ length: buyers }, (_, place) => repeat(purchase, place, buyers, 0)),
    ...Array.from({ length: freeClients }, (_, place) => repeat(ask, place, 1, pauseMs)),
  ];
  return {
    delivered: () => delivered,
    async stop() {
      stop.abort();
      await Promise.all(clients);
    },
  };
}

/** Moves ALGO between the attestor's account and the sandbox's dispenser. */
async function affordOnly(
  { algodUrl, algorand }: Sandbox,
  { address, mnemonic }: { address: string; mnemonic: string },
  attestations: bigint,
): Promise<void> {
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const suggestedParams = await algod.getTransactionParams().do();
  const { amount } = await algod.accountInformation(address).do();
  const wanted = KEPT + attestations * FEE;
  const { address: dispenser, secretKey } = algorand.accounts.dispenser;
  const [sender, receiver, key, moved] =
    amount > wanted
      ? [address, dispenser, algosdk.mnemonicToSecretKey(mnemonic).sk, amount - wanted - FEE]
      : [dispenser, address, secretKey, wanted - amount];
  const transfer = algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    sender,
    receiver,
    amount: moved,
    suggestedParams,
  });
  const { txid } = await algod.sendRawTransaction(transfer.signTxn(key)).do();
  await algosdk.waitForConfirmation(algod, txid, 10);
}
