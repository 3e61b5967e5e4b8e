/*
 * What requests, receipts and bundles have in common, whoever sells and pays: JSON as the journal has it, with nothing where one
 * differs from another. A journal keeps the dictionaries of its texts, so that a release may change this one.
 */

const ALGORAND = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
const BASE = "eip155:8453";
const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

const requirement = (network: string, asset: string, extra: string) =>
  `{"scheme":"exact","network":"${network}","asset":"${asset}","amount":"1000","payTo":"","maxTimeoutSeconds":120,"extra":{${extra}}}`;
const REQUIREMENTS = [
  requirement(SOLANA, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", '"feePayer":""'),
  requirement(BASE, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", '"name":"USD Coin","version":"2"'),
  requirement(ALGORAND, "31566704", '"feePayer":""'),
];
const PAYLOADS = [
  '{"transaction":"AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}',
  '{"authorization":{"from":"0x","to":"0x","value":"1000","validAfter":"0","validBefore":"1795900000","nonce":"0x"},"signature":"0x"}',
  '{"paymentGroup":["iaNmZWXNB9CiZnYZ2VurG1haW5uZXQtdjEuMKJnaMQgwGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=pHR5cGWjcGF5","gqNzaWfEQjdHhui6RhYW10zQPopGFyY3bEIHBlpWF4ZmVypHhhaWTOAeGrcA=="],"paymentIndex":1}',
];
const SUBJECTS = [
  '{"kind":"batch","items":[{"chain":"base","id":"0x"},{"chain":"base","id":"0x"},{"chain":"algorand","id":""}]}',
  '{"kind":"inclusion","chain":"base","id":"0x","height":1}',
  '{"kind":"block","chain":"algorand","height":1}',
  '{"kind":"transaction","chain":"base","id":"0x","require":"succeeded"}',
];

/** What stock clients send back with a payment: the extensions of the 402 (catalogue/), and the resource. */
const BODIES = [
  '"properties":{"chain":{"type":"string","enum":["algorand","base"],"description":"The source chain, and its main network by CAIP-2. Algorand: algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k. Base: eip155:8453."},"height":{"anyOf":[{"type":"integer","minimum":0,"maximum":9007199254740991},{"type":"string","pattern":"^(0|[1-9][0-9]{0,15})$"}],"description":"The height of a block: an integer below 2^53, or its decimal digits. Algorand: round. Base: block number."}},"required":["chain","height"],"additionalProperties":false,"description":"The block to attest; one block per request."}}',
  '"properties":{"txid":{"type":"string","pattern":"^[A-Z2-7]{51}[AQ]$|^0x[0-9a-fA-F]{64}$","description":"The id of a confirmed transaction. Algorand: 52 base32 characters. Base: 0x and 64 hex."},"chain":{"description":"When omitted, it is inferred from txid.","type":"string","enum":["algorand","base"]},"require":{"description":"Refuse a transaction that failed: 409 transaction_failed, and nothing is charged. When omitted, a failed transaction is attested as one that failed. Always met on a chain where none that failed stands in a block.","type":"string","const":"succeeded"}},"required":["txid"],"additionalProperties":false,"description":"The transaction to attest."}}',
];
const EXTENSIONS = `"extensions":{"payment-identifier":{"info":{"required":false},"schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"required":{"type":"boolean"},"id":{"type":"string","minLength":16,"maxLength":128,"pattern":"^[a-zA-Z0-9_-]+$"}},"required":["required"]}},"bazaar":{"info":{"input":{"type":"http","method":"POST","bodyType":"json","body":{"chain":"algorand","txid":"AFTNUMC6OZCKFGUPNKP3EHCSBPSYYEZJULJSXKVVALVU7RAC7SOA"}}},"schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"input":{"type":"object","properties":{"type":{"type":"string","const":"http"},"method":{"type":"string","enum":["POST","PUT","PATCH"]},"bodyType":{"type":"string","enum":["json","form-data","text"]},"body":{"type":"object",${BODIES[1]},"required":["type","method","bodyType","body"],"additionalProperties":false}},"required":["input"]}}}`;
const RESOURCE =
  '"resource":{"url":"https://","description":"Attest a confirmed transaction: record its hash on Algorand and return a signed proof bundle","mimeType":"application/json"}';

const ATTEST = (members: string) => `"attest":{"txnId":"","round":1,"note":"attestd/v1:j{\\"a\\":\\"${members}}"}`;
const NOTE = `\\",\\"b\\":\\"0x\\",\\"c\\":\\"${BASE}\\",\\"g\\":\\"${ALGORAND}\\",\\"h\\":\\"\\",\\"l\\":\\"finalized\\",\\"n\\":1,\\"p\\":\\"\\",\\"s\\":1,\\"t\\":\\"0x\\",\\"u\\":17959`;
const BLOCK_NOTE = `\\",\\"b\\":\\"\\",\\"c\\":\\"${ALGORAND}\\",\\"g\\":\\"${ALGORAND}\\",\\"h\\":\\"`;
const SIGNED = '},"attestor":{"algorandAddress":"","pqPublicKey":""},"signature":{"alg":"ML-DSA-65","sigBase64":""}}';
const SOURCE = '"source":{"chain":"base","txnId":"0x","hashSha256":"","txnBytesBase64":"AviygiEF"';
const ZEROS = "A".repeat(64);

/** The text of the dictionary: what is found most often at its end, where it is nearest. */
export const SHIPPED = [
  `{"network":"algorand-mainnet","proof":{"index":0,"siblings":["=","="]},"source":{"chain":"base","hashSha256":"","txnBytesBase64":"AviygiEF","txnId":"0x"},"statement":{"block":{"hash":"0x","height":1,"time":17959},"chain":"${BASE}","hashSha256":"","level":"finalized","nonce":"==","outcome":"succeeded","txnId":"0x","type":"transaction"},"type":"batch-item","version":1}`,
  `"outcome":"not_applicable"{"attest":{"note":"attestd/v1:j{\\"a\\":\\"\\",\\"g\\":\\"${ALGORAND}\\",\\"p\\":\\"\\",\\"r\\":\\"\\",\\"z\\":1}","round":1,"txnId":"},"network":"algorand-mainnet","root":"","size":1,"type":"batch-attestation","version":1}`,
  `{"type":"tx-inclusion","version":1,"network":"algorand-mainnet","block":{"chain":"base","height":1,"blockHash":"0x","headerBase64":"+QJ${ZEROS}","hashSha256":""},${SOURCE}},"inclusion":{"kind":"mpt","index":0,"nodes":["+","+QICAgICAgICAgICAgICA="],"receipt":{"bytesBase64":"Avk${ZEROS}","nodes":[""]}},"inclusion":{"kind":"algorand-merkle","tree":"txn256","index":0,"stibBase64":"","siblings":["`,
  `{"type":"block-attestation","version":1,"network":"algorand-mainnet","block":{"chain":"algorand","height":1,"blockHash":"","headerBase64":"3gAU"},${ATTEST(BLOCK_NOTE)}`,
  ...PAYLOADS.map((payload, i) => `},"payload":{"x402Version":2,"payload":${payload},"accepted":${REQUIREMENTS[i]}`),
  `${BODIES[0]}}`,
  ...SUBJECTS,
  `{"aliases":["${ALGORAND}/group/"],"subject":{"kind":"transaction","chain":"algorand","id":""},"payload":{"x402Version":2,"accepted":${REQUIREMENTS[2]},"payload":${PAYLOADS[2]}},"requirement":${REQUIREMENTS[2]}}`,
  `"paymentIndex":1},${EXTENSIONS},${RESOURCE},"accepted":${REQUIREMENTS[2]}},"requirement":${REQUIREMENTS[2]}}`,
  `{"success":true,"payer":"","transaction":"","network":"${BASE}","amount":"1000","extensions":{"offer-receipt":{"info":{"receipt":{"format":"jws","signature":"eyJhbGciOiJNTC1EU0EtNjUiLCJraWQiOiJIn0.eyJpc3N1ZWRBdCI6MTc5NTkwMDLCJuZXR3b3JrIjoiIiwicGF5ZXIiOiIiLCJyZXNvdXJjZVVybCI6Imh0dHBzOi8vL2F0dGVzdCIsInRyYW5zYWN0aW9uIjoiIiwidHlwZSI6Ing0MDItcmVjZWlwdCIsInZlcnNpb24iOjF9."}},"schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"receipt":{"type":"object","properties":{"format":{"const":"jws"},"signature":{"type":"string"}},"required":["format","signature"]}},"required":["receipt"]}}}}`,
  `{"version":1,"network":"algorand-mainnet",${SOURCE}},${ATTEST(NOTE)}${SIGNED}`,
].join("\n");
