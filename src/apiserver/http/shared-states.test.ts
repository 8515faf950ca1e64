import { expect, test } from 'vitest';
import type { WatchFrame } from '../watch-cache/watcher.ts';
import type { FrameEncoder } from './frame-encoder.ts';
import { type SharedState, SharedStates } from './shared-states.ts';

const MIB = 1024 * 1024;

function encoderOf(frameBytes: number) {
  const calls = { joined: 0 };
  const encoder = {
    lengthOf: () => frameBytes,
    join: (frames: readonly WatchFrame[]) => {
      calls.joined++;
      return Buffer.alloc(frameBytes * frames.length);
    },
  } as unknown as FrameEncoder;
  return { encoder, calls };
}

const frames = (count: number) => Array.from({ length: count }, (_, i) => ({ type: 'ADDED', object: i }) as unknown as WatchFrame);

/** Sends a whole state. */
function lengthsOf(state: SharedState, encoder: FrameEncoder): number[] {
  const lengths: number[] = [];
  for (let piece = state.piece(0, encoder); piece !== undefined; piece = state.piece(piece.next, encoder)) lengths.push(piece.count);
  return lengths;
}

test('watches that begin with the same state together have it encoded once, and it is dropped when the last has sent it', () => {
  const states = new SharedStates();
  const { encoder, calls } = encoderOf(64 * 1024);
  const id = {};
  const users = [1, 2, 3].map(() => states.join(id, 'json', frames(5)));
  for (const user of users) expect(lengthsOf(user, encoder)).toEqual([2, 2, 1]);
  expect(calls.joined).toBe(3);
  expect(users[0]!.piece(0, encoder)!.bytes).toBe(users[2]!.piece(0, encoder)!.bytes);
  for (const user of users) user.leave();
  expect(lengthsOf(states.join(id, 'json', frames(5)), encoder)).toEqual([2, 2, 1]);
  expect(calls.joined).toBe(6);
});

test('initial states of other encodings or snapshots are not shared', () => {
  const states = new SharedStates();
  const id = {};
  const first = states.join(id, 'json', frames(1));
  expect(states.join(id, 'json', frames(1))).toBe(first);
  expect(states.join(id, 'protobuf', frames(1))).not.toBe(first);
  expect(states.join({}, 'json', frames(1))).not.toBe(first);
});

test('initial states beyond 32 MiB are encoded per watch, and are complete', () => {
  const states = new SharedStates();
  const { encoder, calls } = encoderOf(MIB);
  const id = {};
  const users = [1, 2].map(() => states.join(id, 'json', frames(40)));
  for (const user of users) expect(lengthsOf(user, encoder)).toHaveLength(40);
  expect(calls.joined).toBe(32 + 8 + 8);
});

test('an empty watch state has no encoded pieces', () => {
  expect(new SharedStates().join({}, 'json', []).piece(0, encoderOf(1).encoder)).toBeUndefined();
});
