import { describe, expect, it } from 'vitest';
import { listOptions } from './list-options.ts';

const read = (query: string, watch: boolean) => listOptions(new URLSearchParams(query), watch, () => {});

const INVALID = 'ListOptions.meta.k8s.io "" is invalid: ';
const requires = 'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
const unsupported = 'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"';

describe('the options of a list', () => {
  it.each([
    ['limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['timeoutSeconds=9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
    ['sendInitialEvents=false', `${INVALID}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`],
    [
      'resourceVersionMatch=Exact&sendInitialEvents=1',
      `${INVALID}[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, ` +
        'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]',
    ],
  ])('are refused: %s', (query, message) => {
    expect(() => read(query, false)).toThrow(message);
  });

  it('are validated after numbers and selectors are parsed', () => {
    const selectors = () => {
      throw new Error('a bad selector');
    };
    expect(() => listOptions(new URLSearchParams('resourceVersionMatch=x'), false, selectors)).toThrow('a bad selector');
    expect(() => listOptions(new URLSearchParams('limit=x'), false, selectors)).toThrow('strconv.ParseInt');
  });
});

describe('the options of a watch', () => {
  it.each([
    ['sendInitialEvents=true', INVALID + requires],
    ['sendInitialEvents=true&resourceVersionMatch=Exact', `${INVALID}[${requires}, ${unsupported}]`],
    [
      'resourceVersionMatch=NotOlderThan&resourceVersion=0',
      `${INVALID}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`,
    ],
    ['continue=x', `${INVALID}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided`],
  ])('are refused: %s', (query, message) => {
    expect(() => read(query, true)).toThrow(message);
  });

  it.each([
    ['', true],
    ['resourceVersion=0', true],
    ['resourceVersion=5', undefined],
    ['resourceVersionMatch=NotOlderThan&sendInitialEvents=0', false],
    ['resourceVersionMatch=NotOlderThan&sendInitialEvents=yes', true],
  ])('ask for the state first, or not: "%s"', (query, sendInitialEvents) => {
    expect(read(query, true).sendInitialEvents).toBe(sendInitialEvents);
  });
});
