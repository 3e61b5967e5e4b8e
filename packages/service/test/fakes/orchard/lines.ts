import { CHAINS, type ChainFormat } from "@attestd/proof";
import type { SourceChainKind } from "../../../src/chains/chain-kind.ts";
import { SOURCE_CHAINS } from "../../../src/chains/registry.ts";
import { orchardFormat } from "./format.ts";
import { orchardChain } from "./kind.ts";

/* The line that Orchard takes in each of the two registries. */

(CHAINS as ChainFormat[]).push(orchardFormat);
(SOURCE_CHAINS as SourceChainKind[]).push(orchardChain);
