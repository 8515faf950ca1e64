/** How the value of a field stands in the bytes. */
export const WireType = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;
export type WireType = (typeof WireType)[keyof typeof WireType];

export function tagOf(number: number, wireType: WireType): number {
  return (number << 3) | wireType;
}

export const TWO_TO_32 = 2 ** 32;
