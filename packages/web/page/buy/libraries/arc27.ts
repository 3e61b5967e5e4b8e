import { AVMWebClient } from "@agoralabs-sh/avm-web-provider";

/** A provider's answer to `discover` (ARC-27). `networks` are those that the wallet knows. */
type Discovered = { name: string; providerId: string; networks: readonly { genesisHash: string }[] };

/** Asks the extensions that speak ARC-27 to name themselves. @param onFound called for each, whenever it answers */
export function discover(onFound: (provider: Discovered) => void): void {
  const client = AVMWebClient.init();
  client.onDiscover(({ result }) => {
    if (result) onFound(result);
  });
  client.discover();
}
