import { expect, test } from 'vitest';
import { FieldError, itemErrors, MAX_FIELD_ERRORS, Path, reportedErrors, StatusError } from '#machinery';
import { FieldReport } from './field-report.ts';

const ITEMS = Array.from({ length: 1_000_000 }, (_, i) => i);

test('a validator that reports a million errors is stopped at the ten thousandth', () => {
  let visited = 0;
  const errors = reportedErrors(() => {
    const at = FieldReport.on(Path.of('spec', 'items'));
    for (const i of ITEMS) {
      visited++;
      at.index(i).required();
    }
    return at.errors;
  });
  expect([visited, errors.length]).toEqual([MAX_FIELD_ERRORS, MAX_FIELD_ERRORS]);
});

test('a list of a million wrong items is looked at until there are ten thousand errors', () => {
  let visited = 0;
  const errors = itemErrors(ITEMS, (i) => {
    visited++;
    return [FieldError.required(Path.of('items').index(i)), FieldError.required(Path.of('items').index(i).child('name'))];
  });
  expect([visited, errors.length]).toEqual([MAX_FIELD_ERRORS / 2, MAX_FIELD_ERRORS]);
});

test('an object with too many errors is answered as invalid, with the first errors', () => {
  const at = FieldReport.on(Path.of('items'));
  const validate = () => {
    for (const i of ITEMS) at.index(i).required();
  };
  const error = StatusError.from(thrownBy(validate));
  expect([error.code, error.status.reason, error.status.details?.causes?.[0]?.field]).toEqual([422, 'Invalid', 'items[0]']);
  expect(error.message).toMatch(/ and at least \d+ more errors$/);
});

function thrownBy(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('an invalid value of megabytes is printed in part', () => {
  const error = FieldError.invalid(Path.of('metadata'), { labels: { a: 'x'.repeat(3_000_000) } }, 'must be empty');
  expect(error.body().length).toBeLessThan(300_000);
});
