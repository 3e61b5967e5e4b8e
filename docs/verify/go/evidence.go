// The evidence beside a bundle: the inclusions of record and source in their blocks, and the state proofs over those.

package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

const notChecked = "not_checked"

var evidenceChecks = []string{"schema", "inclusion", "stateProof", "authorisation", "sourceInclusion", "sourceStateProof"}

// reportEvidence says what the evidence shows, and whether none of it is wrong; passed are the checks that the bundle passes.
func reportEvidence(file, trusted string, bundle object, passed []string) bool {
	signed, items, results := signedPart(bundle), map[string]object{}, map[string]string{}
	for _, name := range evidenceChecks {
		results[name] = notChecked
	}
	judge := func(name string, compute func() string) {
		results[name] = "FAIL"
		attempt(func() { results[name] = compute() })
	}
	judge("schema", func() string { items = readEvidence(file, signed); return "pass" })
	in, proof, authorisation := items[inclusionItem], items[stateProofItem], items[authorisationItem]
	if in != nil {
		judge("inclusion", func() string { checkInclusion(in, signed); return "pass" })
	}
	if results["inclusion"] == "pass" && proof != nil {
		judge("stateProof", func() string { return checkProof(proof, decode(in["headerBase64"]), items, trusted) })
	}
	sender := signed["attestor"].(object)["algorandAddress"]
	if results["inclusion"] == "pass" && authorisation != nil {
		judge("authorisation", func() string {
			return checkAuthorisation(authorisation, in, sender, results["stateProof"] == "pass")
		})
	}
	ofSource, source := items[sourceInclusionItem], items[sourceStateProofItem]
	head, isShown := ofSource["headerBase64"], false
	if slices.Contains(passed, "note") && ofSource != nil {
		judge("sourceInclusion", func() string { checkSourceInclusion(ofSource, bundle); return "pass" })
		isShown = results["sourceInclusion"] == "pass"
	} else if block, has := bundle["block"].(object); has && slices.Contains(passed, "note") {
		head, isShown = block["headerBase64"], slices.Contains(passed, "blockHash")
	}
	if isShown && source != nil {
		judge("sourceStateProof", func() string {
			require(algorand{}.header(decode(head), "").network == chainOfSource(bundle), "of another network")
			return checkProof(source, decode(head), items, trusted)
		})
	}
	for _, name := range evidenceChecks {
		fmt.Println(results[name], "evidence."+name)
	}
	if results["stateProof"] == "pass" {
		fmt.Println("recorded", recordedBy(proof, decode(in["headerBase64"])))
	}
	if results["authorisation"] == "pass" {
		by := sender
		if authorisation["authorizer"] != nil {
			by = authorisation["authorizer"]
		}
		fmt.Println("authorised", authorisation["alg"], by)
	}
	if results["sourceStateProof"] == "pass" {
		fmt.Println("source", recordedBy(source, decode(head)))
	}
	return !slices.Contains(slices.Collect(maps.Values(results)), "FAIL")
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
