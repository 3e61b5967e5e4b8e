// The form of the evidence beside a bundle, and of the checkpoint that a verifier trusts.

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"regexp"
)

var (
	checkpointForm = object{
		"genesisHash": b64(32), "round": integer(0), "votersCommitment": b64(64), "lnProvenWeight": integer(1),
	}
	messageForm = object{
		"blockHeadersCommitment": b64(32), "votersCommitment": b64(64), "lnProvenWeight": integer(1),
		"firstAttestedRound": integer(1), "lastAttestedRound": integer(1),
	}
	underHeader = with(merklePath, object{"headerBase64": b64(0), "stibBase64": b64(0)})
	stakeForm   = object{
		"siblings": list{b64(32)}, "message": messageForm, "stateProofSha256": hash, "stateProofBase64?": b64(0),
		"checkpoint": checkpointForm, "path?": test(isPath),
	}
	itemForms = map[string]object{
		inclusionItem:  with(underHeader, object{"type": inclusionItem, "txnBytesBase64": b64(0)}),
		stateProofItem: with(stakeForm, object{"type": stateProofItem}),
		authorisationItem: {
			"type": authorisationItem, "alg": regexp.MustCompile(`^(ed25519|falcon-1024)$`), "authorizer?": test(isAddress)},
		sourceInclusionItem:  with(underHeader, object{"type": sourceInclusionItem}),
		sourceStateProofItem: with(stakeForm, object{"type": sourceStateProofItem}),
	}
	evidenceForm = object{
		"format": "attestd.evidence/1", "bundle": regexp.MustCompile(`^sha256:[0-9a-f]{64}$`), "items": list{test(isItem)},
	}
)

const (
	inclusionItem        = "algorand-inclusion/1"
	stateProofItem       = "algorand-state-proof/1"
	authorisationItem    = "algorand-authorisation/1"
	sourceInclusionItem  = "algorand-source-inclusion/1"
	sourceStateProofItem = "algorand-source-state-proof/1"
)

func isPath(value any) bool {
	path, ok := value.(object)
	hashes, isList := path["hashes"].([]any)
	for _, one := range hashes {
		ok = ok && b64(32)(one)
	}
	numbers := object{"index": path["index"], "size": path["size"]}
	isNumbered := fits(numbers, object{"index": integer(0), "size": integer(1)})
	return ok && isList && len(path) == 3 && len(hashes) <= 53 && isNumbered && path["index"].(float64) < path["size"].(float64)
}

func isItem(value any) bool {
	item, _ := value.(object)
	name, ok := item["type"].(string)
	form, isKnown := itemForms[name]
	return ok && (!isKnown || fits(value, form))
}

// readEvidence gives the known items of a file, which is refused if it has another form or is of another bundle.
func readEvidence(file string, bundle object) map[string]object {
	text, err := os.ReadFile(file)
	require(err == nil, "no such evidence")
	value, err := parseUpTo(text, 9<<20, 4096)
	require(err == nil && fits(value, evidenceForm), "another form")
	evidence, items := value.(object), map[string]object{}
	require(evidence["bundle"] == "sha256:"+hexSHA256([]byte(canonical(bundle))), "another bundle")
	for _, item := range evidence["items"].([]any) {
		name := item.(object)["type"].(string)
		_, isKnown := itemForms[name]
		require(items[name] == nil, "an item twice")
		if isKnown {
			items[name] = item.(object)
		}
	}
	return items
}

var rootForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// isTrusted says whether a checkpoint is the one in the trusted file, or leads to the trusted root.
func isTrusted(trusted string, checkpoint object, path any) bool {
	if rootForm.MatchString(trusted) {
		way, ok := path.(object)
		return ok && rootOf(checkpoint, way) == trusted
	}
	text, err := os.ReadFile(trusted)
	require(err == nil, "no such checkpoint")
	value, err := parse(text)
	require(err == nil && fits(value, checkpointForm), "no checkpoint")
	return canonical(value) == canonical(checkpoint)
}

// rootOf is the root to which a path leads from a checkpoint (RFC 9162 section 2.1.3.2).
func rootOf(checkpoint, path object) string {
	number := func(of object, name string) []byte {
		return binary.BigEndian.AppendUint64(nil, uint64(of[name].(float64)))
	}
	leaf := bytes.Join([][]byte{decode(checkpoint["genesisHash"]), number(checkpoint, "round"),
		decode(checkpoint["votersCommitment"]), number(checkpoint, "lnProvenWeight")}, nil)
	hashes := [][]byte{}
	for _, hash := range path["hashes"].([]any) {
		hashes = append(hashes, decode(hash))
	}
	root := rootByPath(leaf, path["index"], path["size"], hashes)
	require(root != nil, "too many or too few hashes")
	return hex.EncodeToString(root)
}
