export const MAX_SCORE = 100;

/** Stretches scores so that the greatest becomes 100; reversed, the greatest becomes 0. In place. */
export function normalizeByMaximum(scores: Float64Array, reverse: boolean): void {
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  for (let i = 0; i < scores.length; i++) {
    const share = most === 0 ? 0 : Math.trunc((MAX_SCORE * (scores[i] as number)) / most);
    scores[i] = reverse ? MAX_SCORE - share : share;
  }
}
