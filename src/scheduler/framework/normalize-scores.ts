export const MAX_SCORE = 100;

/** Scales scores so that the maximum becomes 100; reversed, the maximum becomes 0. In place. */
export function normalizeByMaximum(scores: Float64Array, reverse: boolean): void {
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  for (let i = 0; i < scores.length; i++) {
    const share = most === 0 ? 0 : Math.trunc((MAX_SCORE * (scores[i] as number)) / most);
    scores[i] = reverse ? MAX_SCORE - share : share;
  }
}
