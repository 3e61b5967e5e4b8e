// The block of what is attested, and the stake that signed for a header.

package main

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

// checkSourceInclusion panics unless the attested transaction stands under the header of the block that is stated.
func checkSourceInclusion(item, bundle object) {
	require(bundle["block"] == nil, "the bundle has the header")
	hash, height, seconds := statedBlock(bundle)
	head, txn := decode(item["headerBase64"]), decode(bundle["source"].(object)["txnBytesBase64"])
	of, block := readMap(head, false), algorand{}.header(head, "")
	require(block.id == hash && float64(block.height) == height && float64(readInteger(of["ts"])) == seconds, "another block")
	require(block.network == chainOfSource(bundle) && of["gh"] != nil, "of another network")
	require(of["txn256"] != nil && readInteger(of["ts"]) < 1<<43, "no time, or no txn256")
	require(algorand{}.isIncluded(with(item, object{"tree": "txn256"}), txn, head), "does not lead to txn256")
}

// statedBlock is the block of the transaction, as the note or the item's statement has it: hash, height and time.
func statedBlock(bundle object) (any, any, any) {
	if statement, isItem := bundle["statement"].(object); isItem {
		block := statement["block"].(object)
		return block["hash"], block["height"], block["time"]
	}
	note := readNote(bundle["attest"].(object)["note"].(string))
	return note["b"], note["n"], note["u"]
}

// chainOfSource is the CAIP-2 of the source's chain.
func chainOfSource(bundle object) any {
	if statement, isItem := bundle["statement"].(object); isItem {
		return statement["chain"]
	}
	return readNote(bundle["attest"].(object)["note"].(string))["c"]
}

// checkProof panics unless the state proof is one of the header's message; it passes on a trusted checkpoint.
func checkProof(item object, head []byte, items map[string]object, trusted string) string {
	message, checkpoint := item["message"].(object), item["checkpoint"].(object)
	of := readMap(head, false)
	require(bytes.Equal(decode(checkpoint["genesisHash"]), readDigest(of["gh"])), "of another network")
	require(readInteger(of["ts"]) < 1<<43, "no time")
	first, last := message["firstAttestedRound"].(float64), message["lastAttestedRound"].(float64)
	index := float64(readInteger(of["rnd"])) - first
	light := object{"index": index, "interval": last - first + 1, "commitment": message["blockHeadersCommitment"]}
	require(index >= 0 && isNextInterval(message, checkpoint), "not of its interval")
	require(isCommitted(with(light, object{"siblings": item["siblings"]}), of, head), "not of its commitment")
	held := item["stateProofBase64"]
	for _, other := range items { // it may stand in another item
		if held == nil && other["stateProofSha256"] == item["stateProofSha256"] {
			held = other["stateProofBase64"]
		}
	}
	if held == nil || !hasFalcon {
		return notChecked
	}
	proof := decode(held)
	require(hexSHA256(proof) == item["stateProofSha256"], "another state proof")
	verifyStateProof(proof, message, checkpoint)
	result := notChecked
	attempt(func() {
		result = map[bool]string{true: "pass", false: notChecked}[isTrusted(trusted, checkpoint, item["path"])]
	})
	return result
}

// recordedBy is the round of a header, its time, and the weight that was proven to have signed for it at least.
func recordedBy(proof object, head []byte) string {
	fields := readMap(head, false)
	at := time.Unix(int64(readInteger(fields["ts"])), 0).UTC().Format("2006-01-02T15:04:05.000Z")
	weight := math.Exp((proof["checkpoint"].(object)["lnProvenWeight"].(float64) - 1) / 65536)
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(weight))-3))
	return fmt.Sprintf("%d %s %.0f", readInteger(fields["rnd"]), at, math.Floor(weight/unit)*unit)
}
