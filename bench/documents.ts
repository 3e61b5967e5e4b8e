import { startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { startAttestd, startBare, startNetworks } from "./server.ts";

/** GET /openapi.json, whole and with the ETag of what one has, beside bare node:http that sends the same bytes. */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  await using bare = await startBare("bare-documents.ts", [`${attestd.url}/openapi.json`]);
  await using load = startLoad();
  const etag = (await fetch(`${attestd.url}/openapi.json`)).headers.get("etag") ?? "";

  const { seconds } = effort;
  const rate = (url: string, headers: Record<string, string>, status: number) =>
    load.rate(url, { method: "GET", path: "/openapi.json", headers }, { status, seconds });
  const known = { "if-none-match": etag };
  return [
    judge("documents", "/s", await inTurns(effort, rate(attestd.url, {}, 200), rate(bare.url, {}, 200)), "share", {
      atLeast: 0.9,
    }),
    judge(
      "documents-304",
      "/s",
      await inTurns(effort, rate(attestd.url, known, 304), rate(bare.url, known, 304)),
      "share",
      { atLeast: 0.9 },
    ),
  ];
}
