// The evidence beside a bundle: the record's inclusion in its block, and the state proof over that.

package main

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

const notChecked = "not_checked"

// reportEvidence says what the evidence shows, and whether none of it is wrong.
func reportEvidence(file, trusted string, bundle object) bool {
	items, schema, inclusion, stateProof, authorised := map[string]object{}, "FAIL", notChecked, notChecked, notChecked
	attempt(func() { items, schema = readEvidence(file, bundle), "pass" })
	in, proof := items[inclusionItem], items[stateProofItem]
	if in != nil {
		inclusion = "FAIL"
		attempt(func() { checkInclusion(in, bundle); inclusion = "pass" })
	}
	if inclusion == "pass" && proof != nil {
		stateProof = "FAIL"
		attempt(func() { stateProof = checkProof(proof, in, trusted) })
	}
	signed, sender := items[authorisationItem], bundle["attestor"].(object)["algorandAddress"]
	if inclusion == "pass" && signed != nil {
		authorised = "FAIL"
		attempt(func() { authorised = checkAuthorisation(signed, in, sender, stateProof == "pass") })
	}
	fmt.Printf("%s evidence.schema\n%s evidence.inclusion\n%s evidence.stateProof\n", schema, inclusion, stateProof)
	fmt.Println(authorised, "evidence.authorisation")
	if stateProof == "pass" {
		header := readMap(decode(in["headerBase64"]), false)
		seconds := time.Unix(int64(readInteger(header["ts"])), 0).UTC()
		weight := math.Exp((proof["checkpoint"].(object)["lnProvenWeight"].(float64) - 1) / 65536)
		unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(weight))-3))
		at := seconds.Format("2006-01-02T15:04:05.000Z")
		fmt.Printf("recorded %.0f %s %.0f\n", bundle["attest"].(object)["round"], at, math.Floor(weight/unit)*unit)
	}
	if authorised == "pass" {
		by := sender
		if signed["authorizer"] != nil {
			by = signed["authorizer"]
		}
		fmt.Println("authorised", signed["alg"], by)
	}
	return schema != "FAIL" && inclusion != "FAIL" && stateProof != "FAIL" && authorised != "FAIL"
}

// checkInclusion panics unless the item's transaction is the bundle's attestation, and stands under the item's header.
func checkInclusion(item, bundle object) {
	attest, attestor := bundle["attest"].(object), bundle["attestor"].(object)
	txn, head := decode(item["txnBytesBase64"]), decode(item["headerBase64"])
	own, block := algorand{}.transaction(txn, ""), algorand{}.header(head, "")
	ledger := readNote(attest["note"].(string))["g"]
	isOwn := own.id == attest["txnId"] && own.network == ledger
	require(isOwn && block.network == ledger && float64(block.height) == attest["round"], "another transaction or block")
	fields, of := readMap(txn, true), readMap(head, false)
	require(string(fields["type"]) == "\xa3pay" && fields["amt"] == nil && fields["close"] == nil && fields["rekey"] == nil,
		"no payment of nothing")
	require(bytes.Equal(readDigest(fields["snd"]), addressBytes(attestor["algorandAddress"])), "another sender")
	note := (&msgpack{data: fields["note"]}).decode().([]byte)
	require(string(note) == attest["note"] && bytes.Equal(fields["gh"], of["gh"]), "another note or network")
	require(readInteger(of["ts"]) < 1<<43 && of["txn256"] != nil, "no time, or no txn256")
	path := with(item, object{"tree": "txn256"})
	require(algorand{}.isIncluded(path, txn, head), "does not lead to txn256")
}

// checkProof panics unless the state proof is one of the header's message; it passes on a trusted checkpoint.
func checkProof(item, in object, trusted string) string {
	message, checkpoint := item["message"].(object), item["checkpoint"].(object)
	head := decode(in["headerBase64"])
	of := readMap(head, false)
	require(bytes.Equal(decode(checkpoint["genesisHash"]), readDigest(of["gh"])), "of another network")
	first, last := message["firstAttestedRound"].(float64), message["lastAttestedRound"].(float64)
	index := float64(readInteger(of["rnd"])) - first
	light := object{"index": index, "interval": last - first + 1, "commitment": message["blockHeadersCommitment"]}
	path := with(in, object{"tree": "txn256", "lightHeader": with(light, object{"siblings": item["siblings"]})})
	require(index >= 0 && last-first < 256 && algorand{}.isIncluded(path, decode(in["txnBytesBase64"]), head), "not of its commitment")
	if item["stateProofBase64"] == nil || !hasFalcon {
		return notChecked
	}
	proof := decode(item["stateProofBase64"])
	require(hexSHA256(proof) == item["stateProofSha256"], "another state proof")
	verifyStateProof(proof, message, checkpoint)
	result := notChecked
	attempt(func() {
		result = map[bool]string{true: "pass", false: notChecked}[isTrusted(trusted, checkpoint, item["path"])]
	})
	return result
}
