// By what key the attestation transaction was signed, which its block's entry says.

package main

import (
	"bytes"
)

// checkAuthorisation panics unless the signature of an inclusion's transaction is as the item says.
func checkAuthorisation(item, in object, sender any, isProven bool) string {
	entry, account := readMap(decode(in["stibBase64"]), false), addressBytes(sender)
	kinds := 0
	for _, name := range []string{"sig", "msig", "lsig", "pqsig"} {
		if entry[name] != nil {
			kinds++
		}
	}
	require(kinds == 1 && (entry["sgnr"] != nil) == (item["authorizer"] != nil), "another signature or authorizer")
	if item["authorizer"] != nil {
		account = addressBytes(item["authorizer"])
		require(bytes.Equal(readDigest(entry["sgnr"]), account), "another authorizer")
	}
	message := append([]byte("TX"), decode(in["txnBytesBase64"])...)
	if item["alg"] == "ed25519" {
		require(verifyEd25519(account, message, readBytes(entry["sig"])), "a signature that does not fit")
	} else {
		pq, salt := readMap(entry["pqsig"], false), uint64(0)
		members := 3
		if pq["slt"] != nil {
			salt, members = readInteger(pq["slt"]), 4
		}
		key := readBytes(pq["pk"])
		// The first byte counts all members, those under integers too.
		isWhole := len(pq) == members && entry["pqsig"][0] == 0x80+byte(members)
		require(isWhole && string(readBytes(pq["sch"])) == "f1" && salt < 256 && len(key) == 1793, "no key of Falcon-1024")
		require(bytes.Equal(sha512_256([]byte("PQAf1"), []byte{byte(salt)}, key), account), "another account's key")
		if !hasFalcon {
			return notChecked
		}
		require(verifyFalcon(key, readBytes(pq["sig"]), message), "a signature that does not fit")
	}
	if item["authorizer"] != nil && !isProven {
		return notChecked
	}
	return "pass"
}

func addressBytes(address any) []byte {
	data, err := noPadding.DecodeString(address.(string))
	require(err == nil, "no address")
	return data[:32]
}

// readBytes gives the content of msgpack bytes.
func readBytes(member []byte) []byte {
	require(len(member) > 1 && member[0] >= 0xc4 && member[0] <= 0xc6, "no bytes")
	return member[1+1<<(member[0]-0xc4):]
}
