import { checkHttpHeaderName, checkPortName, checkPortNumber } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe, ProbeHandler } from './probe.ts';

const SCHEMES = ['HTTP', 'HTTPS'];
const TIMINGS = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const;

type Handler = ProbeHandler & LifecycleHandler;

/** Probes of a running container. */
export interface Probes {
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
}

export function validateProbes({ livenessProbe, readinessProbe, startupProbe }: Probes, at: FieldReport): void {
  if (livenessProbe) validateSuccessOnce(livenessProbe, at.child('livenessProbe'));
  if (readinessProbe) validateReadinessProbe(readinessProbe, at.child('readinessProbe'));
  if (startupProbe) validateSuccessOnce(startupProbe, at.child('startupProbe'));
}

function validateSuccessOnce(probe: Probe, at: FieldReport): void {
  validateProbe(probe, at);
  if (probe.successThreshold !== 1) at.child('successThreshold').invalid(probe.successThreshold ?? 0, 'must be 1');
}

function validateReadinessProbe(probe: Probe, at: FieldReport): void {
  validateProbe(probe, at);
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds !== undefined) at.child('terminationGracePeriodSeconds').invalid(seconds, 'must not be set for readinessProbes');
}

function validateProbe(probe: Probe, at: FieldReport): void {
  validateHandler(probe, at, undefined);
  for (const timing of TIMINGS) {
    const value = probe[timing];
    if (value !== undefined && value < 0) at.child(timing).nonNegative(value);
  }
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds !== undefined && seconds <= 0) at.child('terminationGracePeriodSeconds').invalid(seconds, 'must be greater than 0');
}

export function validateLifecycle({ postStart, preStop }: Lifecycle, at: FieldReport, gracePeriod: number | undefined): void {
  if (postStart) validateHandler(postStart, at.child('postStart'), gracePeriod);
  if (preStop) validateHandler(preStop, at.child('preStop'), gracePeriod);
}

const ACTIONS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

function validateHandler(handler: Handler, at: FieldReport, gracePeriod: number | undefined): void {
  let hasHandler = false;
  for (const action of ACTIONS) {
    if (!handler[action]) continue;
    const field = at.child(action);
    if (hasHandler) field.forbidden('may not specify more than 1 handler type');
    else validateAction(handler, field, { action, gracePeriod });
    hasHandler = true;
  }
  if (!hasHandler) at.required('must specify a handler type');
}

interface ActionContext {
  readonly action: (typeof ACTIONS)[number];
  readonly gracePeriod: number | undefined;
}

function validateAction(handler: Handler, at: FieldReport, { action, gracePeriod }: ActionContext): void {
  switch (action) {
    case 'exec':
      if (!handler.exec?.command?.length) at.child('command').required();
      break;
    case 'httpGet':
      if (handler.httpGet) validateHttpGet(handler.httpGet, at);
      break;
    case 'tcpSocket':
      validatePort(handler.tcpSocket?.port, at.child('port'));
      break;
    case 'grpc':
      validatePort(handler.grpc?.port, at.child('port'));
      break;
    case 'sleep':
      validateSleep(handler.sleep?.seconds ?? 0, at, gracePeriod);
      break;
  }
}

function validateHttpGet({ path, port, scheme, httpHeaders = [] }: HTTPGetAction, at: FieldReport): void {
  if (!path) at.child('path').required();
  validatePort(port, at.child('port'));
  at.child('scheme').oneOf(scheme, SCHEMES);
  for (const { name } of httpHeaders) at.child('httpHeaders').problems(name ?? '', checkHttpHeaderName(name ?? ''));
}

/** A port number, or the name of a container port. */
function validatePort(port: number | string = 0, at: FieldReport): void {
  at.problems(port, typeof port === 'number' ? checkPortNumber(port) : checkPortName(port));
}

function validateSleep(seconds: number, at: FieldReport, gracePeriod: number | undefined): void {
  if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return;
  at.invalid(seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`);
}
