// The checks of a bundle, but for its form.

package main

import (
	"crypto/sha256"
	"encoding/hex"
)

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
	signed := signedPart(bundle)
	statement, isItem := bundle["statement"].(object)
	publicKey := signed["attestor"].(object)["pqPublicKey"]
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
	hashes = hashes && (!isItem || statement["hashSha256"] == hexSHA256(txn))
	_, isTrusted := judgeKey(signed, believed)
	unsigned := with(signed, nil)
	delete(unsigned, "signature")
	isSigned := signs(publicKey, unsigned, signed["signature"].(object)["sigBase64"])
	results := []result{{"keyTrust", isTrusted}, {"signature", isSigned}, {"hashPreimage", hashes}}
	if hasSource {
		isOwn := !isItem || statement["txnId"] == ofTxn.id && statement["chain"] == ofTxn.network
		results = append(results, result{"transactionId", ofTxn.id == source["txnId"] && isOwn})
	}
	if isItem {
		results = append(results, result{"inclusion", isInBatch(statement, bundle["proof"].(object), signed)})
		note = noteOfHead(note, signed)
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
	return append(results, result{"note", isNote(signed["attest"].(object)["note"].(string), note, on, id)})
}

func hexSHA256(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
