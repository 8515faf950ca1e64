import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../request/api-request.ts';
import { PATCH_TYPES, patchTypeErrors } from './patch.ts';
import { writeOptions } from './write-options.ts';

const request = (query: string) => ({ query: new URLSearchParams(query), header: () => 'kubectl/v1' }) as unknown as ApiRequest;

describe('the options of a write', () => {
  it('take the field manager from the query, or from the user agent', () => {
    expect(writeOptions(request('fieldManager=me'), 'CreateOptions').fieldManager).toBe('me');
    expect(writeOptions(request(''), 'CreateOptions').fieldManager).toBe('kubectl');
  });

  it.each([
    ['fieldManager=a%01b', 'fieldManager: Invalid value: "a\\x01b": invalid character U+0001 (at position 1)'],
    ['fieldManager=%C3%A9%C2%A0', 'fieldManager: Invalid value: "é\\u00a0": invalid character U+00A0 (at position 2)'],
    ['dryRun=', 'dryRun: Unsupported value: [""]: supported values: "All"'],
    [
      'dryRun=x&fieldValidation=y',
      '[dryRun: Unsupported value: ["x"]: supported values: "All", ' +
        'fieldValidation: Unsupported value: "y": supported values: "", "Ignore", "Strict", "Warn"]',
    ],
  ])('are refused: %s', (query, message) => {
    expect(() => writeOptions(request(query), 'UpdateOptions')).toThrow(`UpdateOptions.meta.k8s.io "" is invalid: ${message}`);
  });

  it('of a patch are validated together with its type', () => {
    const url = request('force=false&dryRun=x');
    const errors = patchTypeErrors(url.query, PATCH_TYPES.merge);
    expect(() => writeOptions(url, 'PatchOptions', errors)).toThrow(
      'PatchOptions.meta.k8s.io "" is invalid: [force: Forbidden: may not be specified for non-apply patch, dryRun: ',
    );
  });
});
