import {
  field,
  type Infer,
  inlined,
  int32,
  int64,
  intOrString,
  listOf,
  named,
  nullable,
  object,
  pointer,
  required,
  string,
} from '../../../schema.ts';

export const ExecAction = object('io.k8s.api.core.v1.ExecAction', 'A command to run in a container.', {
  command: field(1, listOf(string), 'The command and its arguments. No shell is involved.'),
});
export type ExecAction = Infer<typeof ExecAction>;

export const HTTPHeader = object('io.k8s.api.core.v1.HTTPHeader', 'A header of a request.', {
  name: required(1, string, 'The name of the header.'),
  value: required(2, string, 'The value of the header.'),
});
export type HTTPHeader = Infer<typeof HTTPHeader>;

export const HTTPGetAction = object('io.k8s.api.core.v1.HTTPGetAction', 'A request to send.', {
  path: field(1, string, 'The URL path of the request.'),
  port: required(2, intOrString, 'The port, by number or by name.'),
  host: field(3, string, "The host to connect to; the pod's IP by default."),
  scheme: field(4, named('v1.URIScheme'), 'HTTP or HTTPS.'),
  httpHeaders: field(5, listOf(HTTPHeader), 'Headers to send.'),
});
export type HTTPGetAction = Infer<typeof HTTPGetAction>;

export const TCPSocketAction = object('io.k8s.api.core.v1.TCPSocketAction', 'A connection to open.', {
  port: required(1, intOrString, 'The port, by number or by name.'),
  host: field(2, string, 'The host to connect to; the pod by default.'),
});
export type TCPSocketAction = Infer<typeof TCPSocketAction>;

export const GRPCAction = object('io.k8s.api.core.v1.GRPCAction', 'A gRPC health check to make.', {
  port: required(1, int32, 'The port of the gRPC service.'),
  service: nullable(2, string, "The service of the health check; '' checks the whole server.", { default: '' }),
});
export type GRPCAction = Infer<typeof GRPCAction>;

export const ProbeHandler = object('io.k8s.api.core.v1.ProbeHandler', 'How a check is made.', {
  exec: pointer(1, ExecAction, 'Run a command in the container; exit code 0 is success.'),
  httpGet: pointer(2, HTTPGetAction, 'Send a GET; codes from 200 to 399 are success.'),
  tcpSocket: pointer(3, TCPSocketAction, 'Open a connection; that it opens is success.'),
  grpc: pointer(4, GRPCAction, 'Ask the gRPC health service.'),
});
export type ProbeHandler = Infer<typeof ProbeHandler>;

export const Probe = object('io.k8s.api.core.v1.Probe', 'A check that the kubelet makes now and then.', {
  ...inlined(1, ProbeHandler),
  initialDelaySeconds: field(2, int32, 'How long after the start to wait with the first check.'),
  timeoutSeconds: field(3, int32, 'How long a check may take. 1 by default.'),
  periodSeconds: field(4, int32, 'How often to check. 10 by default.'),
  successThreshold: field(5, int32, 'How many successes in a row end a failure. 1 by default.'),
  failureThreshold: field(6, int32, 'How many failures in a row count as failed. 3 by default.'),
  terminationGracePeriodSeconds: pointer(7, int64, "How long the container has to end when this probe fails; the pod's by default."),
});
export type Probe = Infer<typeof Probe>;

export const SleepAction = object('io.k8s.api.core.v1.SleepAction', 'A pause.', {
  seconds: required(1, int64, 'How long to wait.'),
});
export type SleepAction = Infer<typeof SleepAction>;

export const LifecycleHandler = object('io.k8s.api.core.v1.LifecycleHandler', "Something to do at a turn of a container's life.", {
  exec: pointer(1, ExecAction, 'Run a command in the container.'),
  httpGet: pointer(2, HTTPGetAction, 'Send a GET.'),
  tcpSocket: pointer(3, TCPSocketAction, 'No longer used.'),
  sleep: pointer(4, SleepAction, 'Wait for a while.'),
});
export type LifecycleHandler = Infer<typeof LifecycleHandler>;

export const Lifecycle = object('io.k8s.api.core.v1.Lifecycle', 'What to do when a container starts and ends.', {
  postStart: pointer(1, LifecycleHandler, 'Done right after the start. If it fails, the container is killed.'),
  preStop: pointer(2, LifecycleHandler, 'Runs before the container is stopped.'),
  stopSignal: pointer(3, named('v1.Signal'), 'The signal that stops the container.'),
});
export type Lifecycle = Infer<typeof Lifecycle>;
