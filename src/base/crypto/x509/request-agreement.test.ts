import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCertificateRequest, readCertificateRequest } from './certificate-request.ts';
import { decodePem, pemBlocks } from './pem.ts';

// Admission, approval and signing parse a request with the same function. It must use the first PEM block, whatever surrounds it.

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const request = (organization: string) =>
  createCertificateRequest(privateKey, { subject: { commonName: 'alice', organizations: [organization] } });
const [harmless, privileged] = [request('devs'), request('system:masters')];

const edits = fc.array(
  fc.record({ at: fc.nat(), text: fc.constantFrom('*', '\n', '-', ' ', 'A', '\u0000', '-----BEGIN', 'Note: x\n\n', '\r\n') }),
  {
    maxLength: 3,
  },
);

function edited(text: string, changes: readonly { readonly at: number; readonly text: string }[]): string {
  return changes.reduce((result, { at, text: inserted }) => {
    const place = at % (result.length + 1);
    return result.slice(0, place) + inserted + result.slice(place);
  }, text);
}

test('a request is that of the first block that can be read, and both ways to find it agree', () => {
  fc.assert(
    fc.property(edits, fc.constantFrom([harmless, privileged], [privileged, harmless]), (changes, [first, second]) => {
      const pem = edited(first!, changes) + second!;
      const [block] = pemBlocks(pem);
      const bytes = decodePem('CERTIFICATE REQUEST', pem);
      if (block?.type === 'CERTIFICATE REQUEST') expect(Buffer.from(bytes!).equals(Buffer.from(block.bytes))).toBe(true);
      else expect(bytes).toBeUndefined();
      if (bytes === undefined) return;
      const asBytes = Buffer.from(bytes).toString('latin1');
      const read = () => readCertificateRequest(pem).subject.organizations;
      // The parsed request is always the one in these bytes, never the other one.
      if (asBytes.includes('system:masters') && !asBytes.includes('devs')) expect(orNothing(read)).not.toContain('devs');
      if (asBytes.includes('devs') && !asBytes.includes('system:masters')) expect(orNothing(read)).not.toContain('system:masters');
    }),
    { numRuns: 500 },
  );
});

function orNothing(read: () => readonly string[] | undefined): readonly string[] {
  try {
    return read() ?? [];
  } catch {
    return [];
  }
}
