const PRIME = 16_777_619;
const OFFSET = 2_166_136_261;

/** FNV-1a of the text. */
function hashOf(text: string): number {
  let hash = OFFSET;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash >>> 0;
}

/** A pseudo-random sequence (splitmix32). */
function* numbersFrom(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state + 0x9e_37_79_b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21_f0_aa_ad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x73_5a_2d_97);
    yield (mixed ^ (mixed >>> 15)) >>> 0;
  }
}

/**
 * The queues of a flow by shuffle sharding: deterministic, without duplicates, and rarely the same for two flows.
 * A flow that fills its queues leaves others free ones.
 */
export function dealHand(flow: string, deckSize: number, handSize: number): readonly number[] {
  const size = Math.min(handSize, deckSize);
  const hand = new Set<number>();
  for (const number of numbersFrom(hashOf(flow))) {
    if (hand.size === size) break;
    // A deck hardly larger than the hand would need many draws.
    hand.add(deckSize <= 2 * size ? nextFree(hand, number % deckSize, deckSize) : number % deckSize);
  }
  return [...hand];
}

function nextFree(usedCards: ReadonlySet<number>, card: number, deckSize: number): number {
  let free = card;
  while (usedCards.has(free)) free = (free + 1) % deckSize;
  return free;
}
