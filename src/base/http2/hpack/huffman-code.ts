import { ERROR, Http2ConnectionError } from '../protocol.ts';

/** The code lengths of the 256 characters and of the end of a string, RFC 7541, appendix B. The code is canonical, so they define it. */
// biome-ignore format: a table
const LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];
const END_OF_STRING = 256;
const MAX_LENGTH = 30;

/** A transition: the next state in the low bits, then the character that ended in it, then flags. */
const STATE_MASK = 0xff;
const CHARACTER_SHIFT = 8;
const HAS_CHARACTER = 1 << 16;
const IS_INVALID = 1 << 17;
/** Padding is at most seven bits of ones. */
const MAX_PADDING = 7;
const SHORTEST_CODE = 5;

/** Decodes Huffman-coded strings, four bits a step. One serves all connections. */
export class HuffmanCode {
  readonly #steps: Uint32Array;
  readonly #mayEnd: Uint8Array;
  #scratch = Buffer.allocUnsafeSlow(4096);

  constructor() {
    const tree = codeTree();
    this.#steps = transitionsOf(tree);
    this.#mayEnd = paddingStatesOf(tree);
  }

  /** Decodes to one character per byte. Throws a COMPRESSION_ERROR for invalid codes. */
  decode(source: Buffer, from: number, to: number): string {
    const most = Math.ceil(((to - from) * 8) / SHORTEST_CODE);
    if (most > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(most);
    const scratch = this.#scratch;
    const steps = this.#steps;
    let length = 0;
    let state = 0;
    for (let i = from; i < to; i++) {
      const byte = source[i]!;
      for (let shift = 4; shift >= 0; shift -= 4) {
        const step = steps[(state << 4) | ((byte >> shift) & 0xf)]!;
        if (step & IS_INVALID) throw invalid();
        if (step & HAS_CHARACTER) scratch[length++] = (step >> CHARACTER_SHIFT) & 0xff;
        state = step & STATE_MASK;
      }
    }
    if (this.#mayEnd[state] === 0) throw invalid();
    return scratch.toString('latin1', 0, length);
  }
}

function invalid(): Http2ConnectionError {
  return new Http2ConnectionError(ERROR.COMPRESSION_ERROR, 'invalid Huffman code in a header');
}

/** Inner nodes by number, the root first; a child is the number of a node, or a character as its complement. */
type CodeTree = readonly { readonly children: number[] }[];

function codeTree(): CodeTree {
  const nodes = [{ children: [0, 0] }];
  let code = 0;
  for (let length = 1; length <= MAX_LENGTH; length++) {
    for (const [symbol, own] of LENGTHS.entries()) if (own === length) addCode(nodes, { symbol, code: code++, length });
    code *= 2;
  }
  return nodes;
}

function addCode(nodes: { children: number[] }[], { symbol, code, length }: { symbol: number; code: number; length: number }): void {
  let node = nodes[0]!;
  for (let bit = length - 1; bit > 0; bit--) {
    const side = (code >> bit) & 1;
    if (node.children[side] === 0) node.children[side] = nodes.push({ children: [0, 0] }) - 1;
    node = nodes[node.children[side]!]!;
  }
  node.children[code & 1] = ~symbol;
}

function transitionsOf(tree: CodeTree): Uint32Array {
  const steps = new Uint32Array(tree.length << 4);
  for (let state = 0; state < tree.length; state++)
    for (let nibble = 0; nibble < 16; nibble++) steps[(state << 4) | nibble] = transition(tree, state, nibble);
  return steps;
}

/** Codes have at least five bits, so that at most one ends within four. */
function transition(tree: CodeTree, from: number, nibble: number): number {
  let state = from;
  let result = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const child = tree[state]!.children[(nibble >> bit) & 1]!;
    if (child === ~END_OF_STRING) return IS_INVALID;
    if (child < 0) result = HAS_CHARACTER | (~child << CHARACTER_SHIFT);
    state = Math.max(0, child);
  }
  return result | state;
}

function paddingStatesOf(tree: CodeTree): Uint8Array {
  const mayEnd = new Uint8Array(tree.length);
  for (let state = 0, bits = 0; bits <= MAX_PADDING; bits++) {
    mayEnd[state] = 1;
    state = tree[state]!.children[1]!;
  }
  return mayEnd;
}
