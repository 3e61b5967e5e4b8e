// The form of bundles and key histories: the members that there must be.

package main

import (
	"encoding/base64"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A shape is a constant, a pattern, a test, a list of at most 20, or an object, of which "name?" may be absent.
type (
	test = func(value any) bool
	list []any
)

func integer(least float64) test {
	return func(value any) bool {
		number, ok := value.(float64)
		return ok && number == math.Trunc(number) && least <= number && number < 1<<53
	}
}

func b64(length int) test { // of any length but 0, where it is 0
	return func(value any) bool {
		text, ok := value.(string)
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		isOneLine := !strings.ContainsAny(text, "\r\n")
		return ok && err == nil && isOneLine && len(data) > 0 && (length == 0 || len(data) == length)
	}
}

func text(value any) bool {
	text, ok := value.(string)
	return ok && len(text) <= 1024 && utf8.ValidString(text)
}

var (
	hash     = regexp.MustCompile(`^[0-9a-f]{64}$`)
	sha256id = regexp.MustCompile(`^[\w-]{42}[AEIMQUYcgkosw048]$`)
	chainIDs = map[string]*regexp.Regexp{
		"algorand": regexp.MustCompile(`^[A-Z2-7]{51}[AQ]$`),
		"base":     regexp.MustCompile(`^0x[0-9a-f]{64}$`),
	}
	merklePath = object{"index": integer(0), "siblings": list{b64(32)}}
	inclusions = map[string]object{
		"algorand": with(merklePath, object{"kind": "algorand-merkle", "tree": regexp.MustCompile(`^txn(256)?$`),
			"stibBase64": b64(0), "lightHeader?": with(merklePath, object{"interval": integer(1), "commitment": b64(32)})}),
		"base": {"kind": "mpt", "index": integer(0), "nodes": list{b64(0)},
			"receipt?": object{"bytesBase64": b64(0), "nodes": list{b64(0)}}},
	}
	attestation = object{
		"version": 1.0, "network": "algorand-mainnet",
		"attest":    object{"txnId": chainIDs["algorand"], "round": integer(1), "note": test(text)},
		"attestor":  object{"algorandAddress": test(isAddress), "pqPublicKey": b64(1952)},
		"signature": object{"alg": "ML-DSA-65", "sigBase64": b64(3309)},
	}
	entry = object{
		"type": "attestor-key", "version": 1.0, "kid": sha256id, "keySha256": sha256id, "pqPublicKey": b64(1952),
		"algorandAddress": test(isAddress), "origin": origin, "fromRound": integer(0),
		"untilRound?": integer(1), "revokedRound?": integer(0), "endorsement?": b64(3309),
	}
	origin = regexp.MustCompile(`^https?://([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:[1-9][0-9]{0,4})?$`)
	ledger = regexp.MustCompile(`^algorand:[\w-]{32}$`)
)

// chainOf is the chain of a bundle, if the bundle has the form that it should have.
func chainOf(bundle any) string {
	for chain, id := range chainIDs {
		source := object{"chain?": chain, "txnId": id, "hashSha256": hash, "txnBytesBase64": b64(0)}
		block := object{"chain": chain, "height": integer(0), "blockHash": id, "headerBase64": b64(0), "hashSha256": hash}
		inclusion := object{"type": "tx-inclusion", "block": block, "source": source, "inclusion": inclusions[chain]}
		for _, shape := range []object{{"source": source}, {"type": "block-attestation", "block": block}, inclusion} {
			if fits(bundle, with(attestation, shape)) || fits(bundle, itemForm(chain, id, source)) {
				return chain
			}
		}
	}
	return ""
}

func with(shape, members object) object {
	all := object{}
	for _, part := range []object{shape, members} {
		for name, member := range part {
			all[name] = member
		}
	}
	return all
}

func fits(value, shape any) bool {
	switch shape := shape.(type) {
	case *regexp.Regexp:
		text, ok := value.(string)
		return ok && shape.MatchString(text)
	case test:
		return shape(value)
	case list:
		items, ok := value.([]any)
		for _, item := range items {
			ok = ok && fits(item, shape[0])
		}
		return ok && len(items) <= 20
	case object:
		members, ok := value.(object)
		known := 0
		for name, member := range shape {
			value, present := members[strings.TrimSuffix(name, "?")]
			if present {
				known++
			}
			ok = ok && (present && fits(value, member) || !present && strings.HasSuffix(name, "?"))
		}
		return ok && known == len(members)
	}
	return value == shape
}
