import { core } from '#api';
import { decodeObject, decodeProtobuf, encodeJson, encodeProtobuf, parseJson } from '#machinery';
import type { Benchmark } from './harness.ts';
import { typicalPod } from './typical-pod.ts';

const text = JSON.stringify(typicalPod);
const bytes = Buffer.from(text);
const message = encodeProtobuf(core.Pod, typicalPod);
/** An object as clients send it: without fields that the server always sets, and with nulls. */
const { status: _, ...unsaved } = typicalPod;
const fromClient = Buffer.from(JSON.stringify({ ...unsaved, metadata: { ...typicalPod.metadata, creationTimestamp: null } }));

export const benchmarks: Benchmark[] = [
  {
    kind: 'micro',
    name: 'codec/json: decode, validate and encode a pod (at most 3 ×)',
    baseline: { name: 'JSON.parse + JSON.stringify', run: () => JSON.stringify(JSON.parse(bytes.toString())) },
    subject: {
      name: 'parseJson + decodeObject + validate + encodeJson',
      run: () => {
        const { object } = decodeObject(core.Pod, parseJson(bytes).value);
        if (core.podBehaviour.validate?.(object as unknown as core.Pod).length !== 0) throw new Error('the pod is invalid');
        return encodeJson(object);
      },
    },
  },
  {
    kind: 'micro',
    name: 'codec/json: decode the pod of a client',
    baseline: { name: 'JSON.parse', run: () => JSON.parse(fromClient.toString()) },
    subject: { name: 'parseJson + decodeObject', run: () => decodeObject(core.Pod, parseJson(fromClient).value) },
  },
  {
    kind: 'micro',
    name: 'codec/protobuf: decode a pod (at most 2 ×)',
    baseline: { name: 'JSON.parse', run: () => JSON.parse(text) },
    subject: { name: 'decodeProtobuf', run: () => decodeProtobuf(core.Pod, message) },
  },
  {
    kind: 'micro',
    name: 'codec/protobuf: encode a pod',
    baseline: { name: 'JSON.stringify', run: () => JSON.stringify(typicalPod) },
    subject: { name: 'encodeProtobuf', run: () => encodeProtobuf(core.Pod, typicalPod) },
  },
];
