import { command, flag, operand } from "../../command.ts";

export const inspect = command({
  name: "inspect",
  summary: "explain a file, without verifying it",
  help: [
    "Explain what a file is, and what its parts say: a bundle, a certificate, a receipt, a key history, a payment header",
    "(PAYMENT-REQUIRED, PAYMENT-SIGNATURE or PAYMENT-RESPONSE, as base64 or JSON), or the note of an attestation.",
    "Nothing is verified: that is what `attestd verify` does.",
    "  attestd inspect b.json",
    "  attestd inspect https://attestd.example/.well-known/attestor-keys.json",
    '  printf %s "$PAYMENT_REQUIRED" | attestd inspect -',
  ],
  operands: [operand("<files...>", "files, folders or URLs; - is standard input")],
  options: { json: flag("print one explanation a line as JSON") },
  run: async (...given) => (await import("./run.ts")).inspectFiles(...given),
});
