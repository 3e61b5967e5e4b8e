import { type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { startAttestd, startNetworks, startReplies } from "./server.ts";

/** GET /openapi.json, whole and with the ETag of what one has, beside bare node:http that sends the same bytes. */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  await using load = startLoad();
  // The load takes no compression, so the tag is that of the uncompressed document.
  const whole = await fetch(`${attestd.url}/openapi.json`, { headers: { "accept-encoding": "identity" } });
  const etag = whole.headers.get("etag") ?? "";

  const { seconds } = effort;
  const share = async (name: string, headers: Record<string, string>, status: number) => {
    const request: Request = { method: "GET", path: "/openapi.json", headers };
    await using bare = await startReplies(attestd, request);
    const rate = (url: string) => load.rate(url, request, { status, seconds });
    return judge(name, "/s", await inTurns(effort, rate(attestd.url), rate(bare.url)), "share", { atLeast: 0.9 });
  };
  return [await share("documents", {}, 200), await share("documents-304", { "if-none-match": etag }, 304)];
}
