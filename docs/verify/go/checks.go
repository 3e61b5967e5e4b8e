// The checks of a bundle, but for its form.

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

const prefix = "attestd/v1:j"

// facts are what bytes say of themselves: their id or hash, a block's height, and the network.
type facts struct {
	id      string
	height  uint64
	network string
}

type chain interface {
	levels() []string
	canFail() bool // whether a transaction that failed stands in a block
	transaction(data []byte, ledger string) facts
	header(data []byte, ledger string) facts
	isIncluded(inclusion object, transaction, header []byte) bool
}

var chains = map[string]chain{"algorand": algorand{}, "base": base{}}

type result struct {
	check  string
	passed bool
}

// check gives the results of all checks but the first, in their order.
func check(bundle object, name string, believed trust) []result {
	on, id := chains[name], chainIDs[name]
	source, hasSource := bundle["source"].(object)
	block, hasBlock := bundle["block"].(object)
	inclusion, hasInclusion := bundle["inclusion"].(object)
	publicKey := bundle["attestor"].(object)["pqPublicKey"]
	note := object{"a": keySHA256(publicKey), "g": believed.ledger}
	var txn, header []byte
	var ofTxn, ofBlock facts
	hashes := true
	if hasSource {
		txn = decode(source["txnBytesBase64"])
		attempt(func() { ofTxn = on.transaction(txn, believed.ledger) })
		hashes = hashes && source["hashSha256"] == hexSHA256(txn)
		note["c"], note["h"], note["t"] = ofTxn.network, hexSHA256(txn), ofTxn.id
	}
	if hasBlock {
		header = decode(block["headerBase64"])
		attempt(func() { ofBlock = on.header(header, believed.ledger) })
		hashes = hashes && block["hashSha256"] == hexSHA256(header)
		note["b"], note["c"], note["h"], note["n"] = ofBlock.id, ofBlock.network, hexSHA256(header), ofBlock.height
		delete(note, "t")
	}
	_, isTrusted := judgeKey(bundle, believed)
	unsigned := with(bundle, nil)
	delete(unsigned, "signature")
	isSigned := signs(publicKey, unsigned, bundle["signature"].(object)["sigBase64"])
	results := []result{{"keyTrust", isTrusted}, {"signature", isSigned}, {"hashPreimage", hashes}}
	if hasSource {
		results = append(results, result{"transactionId", ofTxn.id == source["txnId"]})
	}
	if hasBlock {
		isBlock := ofBlock.id == block["blockHash"] && float64(ofBlock.height) == block["height"]
		results = append(results, result{"blockHash", isBlock})
	}
	if hasInclusion {
		isIncluded := false
		attempt(func() { isIncluded = on.isIncluded(inclusion, txn, header) })
		results = append(results, result{"inclusion", isIncluded})
	}
	return append(results, result{"note", isNote(bundle["attest"].(object)["note"].(string), note, on, id)})
}

var paymentForm = regexp.MustCompile(`^[\w-]{21}[AQgw]$`)

func readNote(text string) object {
	value, _ := parse([]byte(strings.TrimPrefix(text, prefix)))
	note, _ := value.(object)
	return note
}

// isNote reports whether a note states what was recomputed, and whether its other members have their form.
func isNote(text string, facts object, on chain, id *regexp.Regexp) bool {
	form := object{"p": paymentForm, "l": test(func(level any) bool {
		name, _ := level.(string)
		return slices.Contains(on.levels(), name)
	})}
	if facts["t"] != nil { // a transaction's bundle does not hold its block
		form = with(form, object{"b": id, "n": integer(0), "u": integer(0)})
		if on.canFail() {
			form["s"] = test(func(outcome any) bool { return outcome == 0.0 || outcome == 1.0 })
		}
	}
	for _, fact := range facts {
		if fact == "" { // not to be had from the bytes
			return false
		}
	}
	note, stated := readNote(text), object{}
	for name := range form {
		stated[name] = note[name]
	}
	return fits(stated, form) && text == prefix+canonical(with(facts, stated))
}

func hexSHA256(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
