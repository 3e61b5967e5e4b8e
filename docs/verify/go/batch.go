// A batch: many transactions under one head, which is what the key signed.

package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

var networkForm = regexp.MustCompile(`^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$`)

// itemForm is the form of an item of a batch.
func itemForm(chain string, id *regexp.Regexp, source object) object {
	on := chains[chain]
	var outcome any = "not_applicable"
	if on.canFail() {
		outcome = regexp.MustCompile(`^(succeeded|failed)$`)
	}
	named := with(source, object{"chain": chain})
	delete(named, "chain?")
	size := func(value any) bool { return integer(2)(value) && value.(float64) <= 1000 }
	return object{
		"type": "batch-item", "version": 1.0, "network": "algorand-mainnet", "source": named,
		"statement": object{
			"type": "transaction", "chain": networkForm, "txnId": id, "hashSha256": hash, "outcome": outcome,
			"block": object{"hash": id, "height": integer(0), "time": integer(0)}, "nonce": b64(16),
			"level": test(func(level any) bool {
				name, _ := level.(string)
				return slices.Contains(on.levels(), name)
			}),
		},
		"proof": merklePath,
		"batch": with(attestation, object{"type": "batch-attestation", "size": test(size), "root": b64(32)}),
	}
}

// signedPart is what the key signed, with its signature: the head of an item's batch, of every other bundle all of it.
func signedPart(bundle object) object {
	if head, isItem := bundle["batch"].(object); isItem {
		return head
	}
	return bundle
}

// itemsOf gives the items of the answer of a batch, each with its head; it panics where it is none.
func itemsOf(value any) (bundles []object) {
	answer := value.(object)
	items, head := answer["items"].([]any), answer["batch"].(object)
	require(len(answer) == 2 && len(items) > 0 && head["size"] == float64(len(items)), "no answer of a batch")
	for index, item := range items {
		bundle := with(item.(object), object{"batch": head})
		isItem := item.(object)["batch"] == nil && chainOf(bundle) != ""
		require(isItem && bundle["proof"].(object)["index"] == float64(index), "no item at its place")
		bundles = append(bundles, bundle)
	}
	return bundles
}

// isInBatch says whether an item's statement is a leaf of its batch.
func isInBatch(statement, path, head object) bool {
	siblings := [][]byte{}
	for _, sibling := range path["siblings"].([]any) {
		siblings = append(siblings, decode(sibling))
	}
	root := rootByPath([]byte(canonical(statement)), path["index"], head["size"], siblings)
	return bytes.Equal(root, decode(head["root"]))
}

// rootByPath is the root to which a path leads from a leaf (RFC 9162 section 2.1.3.2); nil if it has too many or too few hashes.
func rootByPath(leaf []byte, index, size any, hashes [][]byte) []byte {
	leaf = rfc6962.DefaultHasher.HashLeaf(leaf)
	place, count := uint64(index.(float64)), uint64(size.(float64))
	root, err := proof.RootFromInclusionProof(rfc6962.DefaultHasher, place, count, leaf, hashes)
	if err != nil {
		return nil
	}
	return root
}

// noteOfHead is what the note of a batch must state beside the payment.
func noteOfHead(facts, head object) object {
	root := hex.EncodeToString(decode(head["root"]))
	return object{"a": facts["a"], "g": facts["g"], "r": root, "z": head["size"]}
}

// stateItem prints what an item states of its transaction, and gives its outcome.
func stateItem(statement object) string {
	block, outcome := statement["block"].(object), statement["outcome"].(string)
	fmt.Printf("states %s %.0f %.0f %s\n", block["hash"], block["height"], block["time"], outcome)
	return outcome
}
