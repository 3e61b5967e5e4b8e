import { expect, test } from "vitest";
import { parseTraceparent } from "./traceparent.ts";

/* The examples and rules of W3C Trace Context, level 2, sections 3.2 and 4.3. */

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test.each([
  ["sampled", `00-${TRACE}-${SPAN}-01`],
  ["not sampled", `00-${TRACE}-${SPAN}-00`],
  ["with flags of level 2", `00-${TRACE}-${SPAN}-03`],
  ["of a later version", `cc-${TRACE}-${SPAN}-01`],
  ["of a later version that has more", `cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`],
])("%s is read", (_, value) => {
  expect(parseTraceparent(value)).toEqual({ traceId: TRACE, spanId: SPAN });
});

test.each([
  ["absent", undefined],
  ["empty", ""],
  ["of version ff, which is forbidden", `ff-${TRACE}-${SPAN}-01`],
  ["of version 00 that has more", `00-${TRACE}-${SPAN}-01-what-the-future-will-be-like`],
  ["of a later version that has more, not after a dash", `cc-${TRACE}-${SPAN}-01.what`],
  ["of capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["of a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["of a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["of a short trace id", `00-${TRACE.slice(1)}-${SPAN}-01`],
  ["of a long trace id", `00-${TRACE}0-${SPAN}-01`],
  ["of other letters", `00-${TRACE.replace("a", "g")}-${SPAN}-01`],
  ["without flags", `00-${TRACE}-${SPAN}`],
  ["with short flags", `00-${TRACE}-${SPAN}-1`],
  ["with space", ` 00-${TRACE}-${SPAN}-01`],
  ["of two headers", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ["with a line end", `00-${TRACE}-${SPAN}-01\n`],
  ["endless", `cc-${TRACE}-${SPAN}-01-${"a".repeat(600)}`],
])("one that is %s is not", (_, value) => {
  expect(parseTraceparent(value)).toBeUndefined();
});
