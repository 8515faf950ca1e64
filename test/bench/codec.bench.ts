import { core } from '#api';
import { decodeObject, decodeProtobuf, encodeProtobuf } from '#machinery';
import type { Benchmark } from './harness.ts';
import { typicalPod } from './typical-pod.ts';

const text = JSON.stringify(typicalPod);
const message = encodeProtobuf(core.Pod, typicalPod);
/** What a client sends: fields that the server always shows are missing, others are null. */
const { status: _, ...unsaved } = typicalPod;
const fromClient = JSON.stringify({ ...unsaved, metadata: { ...typicalPod.metadata, creationTimestamp: null } });

export const benchmarks: Benchmark[] = [
  {
    kind: 'micro',
    name: 'codec/json: decode a stored pod (at most 2 ×)',
    baseline: { name: 'JSON.parse', run: () => JSON.parse(text) },
    subject: { name: 'JSON.parse + decodeObject', run: () => decodeObject(core.Pod, JSON.parse(text)) },
  },
  {
    kind: 'micro',
    name: 'codec/json: decode the pod of a client (at most 2 ×)',
    baseline: { name: 'JSON.parse', run: () => JSON.parse(fromClient) },
    subject: { name: 'JSON.parse + decodeObject', run: () => decodeObject(core.Pod, JSON.parse(fromClient)) },
  },
  {
    kind: 'micro',
    name: 'codec/protobuf: decode a pod (at most 2 ×)',
    baseline: { name: 'JSON.parse', run: () => JSON.parse(text) },
    subject: { name: 'decodeProtobuf', run: () => decodeProtobuf(core.Pod, message) },
  },
  {
    kind: 'micro',
    name: 'codec/protobuf: encode a pod (at most 2 ×)',
    baseline: { name: 'JSON.stringify', run: () => JSON.stringify(typicalPod) },
    subject: { name: 'encodeProtobuf', run: () => encodeProtobuf(core.Pod, typicalPod) },
  },
];
