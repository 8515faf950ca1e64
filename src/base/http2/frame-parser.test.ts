import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameParser } from './frame-parser.ts';
import { frame } from './http2.test-server.ts';
import { CLIENT_PREFACE } from './protocol.ts';

test('the frames are the same however their bytes are split', () => {
  const sent = fc.array(fc.tuple(fc.nat(9), fc.nat(255), fc.nat(1000), fc.uint8Array({ maxLength: 50 })), { maxLength: 8 });
  fc.assert(
    fc.property(sent, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), fc.boolean(), (frames, sizes, hasPreface) => {
      const received: unknown[] = [];
      const parser = new FrameParser(
        ({ type, flags, streamId }, { bytes, start, end }) =>
          received.push([type, flags, streamId, new Uint8Array(bytes.subarray(start, end))]),
        hasPreface,
      );
      const bytes = Buffer.concat([...(hasPreface ? [CLIENT_PREFACE] : []), ...frames.map((parts) => frame(...parts))]);
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = at + sizes[i % sizes.length]!;
        parser.push(bytes.subarray(at, end));
        at = end;
      }
      expect(received).toEqual(frames.map((parts) => [...parts]));
    }),
    { numRuns: 500 },
  );
});
