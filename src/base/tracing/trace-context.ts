/** A W3C trace context. */
export interface TraceContext {
  /** 16 bytes, in hexadecimal. */
  readonly traceId: string;
  /** 8 bytes, in hexadecimal. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const SAMPLED = 1;

/** The context of a `traceparent` header; undefined if invalid, which is treated as absent. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [version = '', traceId = '', spanId = '', flags = '', ...rest] = (text ?? '').split('-');
  const isHex = isHexOf(version, 2) && isHexOf(traceId, 32) && isHexOf(spanId, 16) && isHexOf(flags, 2);
  if (!isHex || version === 'ff' || (version === '00' && rest.length > 0)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

function isHexOf(text: string, length: number): boolean {
  return text.length === length && /^[0-9a-f]+$/.test(text);
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
