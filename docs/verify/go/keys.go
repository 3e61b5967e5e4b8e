// Keys: whom a verifier believes, and for which rounds.

package main

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"os"
	"regexp"

	"filippo.io/mldsa"
)

const mainNet = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k"

// trust is a key history, or no more than the kid of one key, and the ledger on which the notes must stand.
type trust struct {
	kid, ledger string
	keys        []object
}

func readTrust(argument string) trust {
	if regexp.MustCompile(`^[\w-]{43}$`).MatchString(argument) {
		return trust{kid: argument, ledger: mainNet}
	}
	text, err := os.ReadFile(argument)
	require(err == nil, "keys: no such file")
	value, err := parse(text)
	history, ok := value.(object)
	require(err == nil && ok && fits(value, object{"version": 1.0, "ledger": ledger, "keys": test(isKeys)}), "keys: no history")
	believed := trust{ledger: history["ledger"].(string)}
	for index, item := range history["keys"].([]any) {
		key := item.(object)
		account := history["keys"].([]any)[0].(object)["algorandAddress"]
		require(key["algorandAddress"] == account, "keys: another account")
		require(key["kid"] == keyID(key["pqPublicKey"]), "keys: another kid")
		require(key["keySha256"] == keySHA256(key["pqPublicKey"]), "keys: another SHA-256")
		endorsed := maps.Clone(key)
		maps.DeleteFunc(endorsed, func(name string, _ any) bool {
			return name == "endorsement" || name == "untilRound" || name == "revokedRound"
		})
		_, isEndorsed := key["endorsement"]
		require(isEndorsed == (index > 0), "keys: not endorsed")
		for before, earlier := range believed.keys {
			require(earlier["kid"] != key["kid"], "keys: a key twice")
			if before == index-1 {
				isNext := earlier["untilRound"] == key["fromRound"]
				require(isNext && earlier["fromRound"].(float64) < key["fromRound"].(float64), "keys: a gap")
				require(signs(earlier["pqPublicKey"], endorsed, key["endorsement"]), "keys: endorsed by another")
			}
		}
		believed.keys = append(believed.keys, key)
	}
	require(believed.keys[len(believed.keys)-1]["untilRound"] == nil, "keys: no key follows")
	return believed
}

func isKeys(value any) bool {
	keys, ok := value.([]any)
	for _, key := range keys {
		ok = ok && fits(key, entry)
	}
	return ok && len(keys) > 0
}

// judgeKey tells the standing of a bundle's key, and whether it may have signed in that round.
func judgeKey(bundle object, believed trust) (string, bool) {
	attestor, round := bundle["attestor"].(object), bundle["attest"].(object)["round"].(float64)
	if believed.kid != "" && keyID(attestor["pqPublicKey"]) == believed.kid {
		return "current", true
	}
	for _, key := range believed.keys {
		if key["pqPublicKey"] != attestor["pqPublicKey"] {
			continue
		}
		if key["revokedRound"] != nil { // whoever holds a revoked key can write any round into a bundle
			return "revoked", false
		}
		until, isRetired := key["untilRound"].(float64)
		isOfItsTime := key["fromRound"].(float64) <= round && (!isRetired || round < until)
		isItsAccount := attestor["algorandAddress"] == key["algorandAddress"]
		return map[bool]string{true: "retired", false: "current"}[isRetired], isOfItsTime && isItsAccount
	}
	return "unknown", false
}

// signs says whether a signature is the key's over the canonical bytes of a value: ML-DSA-65 with an empty context.
func signs(publicKey any, value object, signature any) bool {
	return signsBytes(publicKey, []byte(canonical(value)), decode(signature))
}

func signsBytes(publicKey any, message, signature []byte) bool {
	key, err := mldsa.NewPublicKey(mldsa.MLDSA65(), decode(publicKey))
	return err == nil && mldsa.Verify(key, message, signature, nil) == nil
}

// keyID is the key's RFC 7638 thumbprint.
func keyID(publicKey any) string {
	pub := base64.RawURLEncoding.EncodeToString(decode(publicKey))
	digest := sha256.Sum256([]byte(canonical(object{"alg": "ML-DSA-65", "kty": "AKP", "pub": pub})))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

func keySHA256(publicKey any) string {
	digest := sha256.Sum256(decode(publicKey))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

func decode(text any) []byte {
	data, err := base64.StdEncoding.DecodeString(text.(string))
	require(err == nil, "not base64")
	return data
}
