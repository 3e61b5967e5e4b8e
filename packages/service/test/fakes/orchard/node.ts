import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What a node of Orchard serves, as hex. */
export type OrchardBlock = { header: string; transactions: readonly OrchardTransaction[] };
type OrchardTransaction = { id: string; bytes: string; succeeded: boolean };

/** A node of Orchard on loopback HTTP. @param final the height of the last block that is final */
export async function startNode(blocks: ReadonlyMap<number, OrchardBlock>, final: number) {
  const requests: string[] = [];
  const answers = (path: string): unknown => {
    const [, kind, name = ""] = path.split("/");
    if (kind === "head") return { head: Math.max(...blocks.keys()), final };
    if (kind === "blocks") {
      const block = blocks.get(Number(name));
      return block && { header: block.header, transactions: block.transactions.map(({ bytes }) => bytes) };
    }
    for (const [height, { transactions }] of blocks) {
      const index = transactions.findIndex(({ id }) => id === name);
      if (index >= 0) return { height, index, succeeded: transactions[index]?.succeeded };
    }
    return undefined;
  };
  const server = createServer(({ url = "" }, response) => {
    requests.push(url);
    const answer = answers(url);
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
