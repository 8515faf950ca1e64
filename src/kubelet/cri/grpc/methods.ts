import type { MessageType, Method } from '#base';
import * as container from './messages/container.ts';
import * as image from './messages/image.ts';
import * as runtime from './messages/runtime.ts';
import * as sandbox from './messages/sandbox.ts';
import * as stats from './messages/stats.ts';

function runtimeMethod<Request, Response>(
  name: string,
  request: MessageType<unknown, Request>,
  response: MessageType<Response, unknown>,
): Method<Request, Response> {
  return { name: `runtime.v1.RuntimeService/${name}`, request, response };
}

function imageMethod<Request, Response>(
  name: string,
  request: MessageType<unknown, Request>,
  response: MessageType<Response, unknown>,
): Method<Request, Response> {
  return { name: `runtime.v1.ImageService/${name}`, request, response };
}

const { Empty, SandboxId } = sandbox;
const { ContainerId, StreamingUrl } = container;

/** CRI's RuntimeService. */
export const runtimeService = {
  version: runtimeMethod('Version', runtime.VersionRequest, runtime.VersionResponse),
  status: runtimeMethod('Status', runtime.StatusRequest, runtime.StatusResponse),
  runtimeConfig: runtimeMethod('RuntimeConfig', Empty, runtime.RuntimeConfigResponse),
  updateRuntimeConfig: runtimeMethod('UpdateRuntimeConfig', runtime.UpdateRuntimeConfigRequest, Empty),
  runPodSandbox: runtimeMethod('RunPodSandbox', sandbox.RunPodSandboxRequest, SandboxId),
  stopPodSandbox: runtimeMethod('StopPodSandbox', SandboxId, Empty),
  removePodSandbox: runtimeMethod('RemovePodSandbox', SandboxId, Empty),
  podSandboxStatus: runtimeMethod('PodSandboxStatus', SandboxId, sandbox.PodSandboxStatusResponse),
  listPodSandbox: runtimeMethod('ListPodSandbox', sandbox.ListPodSandboxRequest, sandbox.ListPodSandboxResponse),
  updatePodSandboxResources: runtimeMethod('UpdatePodSandboxResources', sandbox.UpdatePodSandboxResourcesRequest, Empty),
  createContainer: runtimeMethod('CreateContainer', container.CreateContainerRequest, ContainerId),
  startContainer: runtimeMethod('StartContainer', ContainerId, Empty),
  stopContainer: runtimeMethod('StopContainer', container.StopContainerRequest, Empty),
  removeContainer: runtimeMethod('RemoveContainer', ContainerId, Empty),
  listContainers: runtimeMethod('ListContainers', container.ListContainersRequest, container.ListContainersResponse),
  containerStatus: runtimeMethod('ContainerStatus', ContainerId, container.ContainerStatusResponse),
  updateContainerResources: runtimeMethod('UpdateContainerResources', container.UpdateContainerResourcesRequest, Empty),
  reopenContainerLog: runtimeMethod('ReopenContainerLog', ContainerId, Empty),
  execSync: runtimeMethod('ExecSync', container.ExecSyncRequest, container.ExecSyncResponse),
  exec: runtimeMethod('Exec', container.ExecRequest, StreamingUrl),
  attach: runtimeMethod('Attach', container.AttachRequest, StreamingUrl),
  portForward: runtimeMethod('PortForward', container.PortForwardRequest, StreamingUrl),
  containerStats: runtimeMethod('ContainerStats', ContainerId, stats.ContainerStatsResponse),
  listContainerStats: runtimeMethod('ListContainerStats', stats.ListContainerStatsRequest, stats.ListContainerStatsResponse),
  podSandboxStats: runtimeMethod('PodSandboxStats', SandboxId, stats.PodSandboxStatsResponse),
  listPodSandboxStats: runtimeMethod('ListPodSandboxStats', stats.ListPodSandboxStatsRequest, stats.ListPodSandboxStatsResponse),
  listMetricDescriptors: runtimeMethod('ListMetricDescriptors', Empty, stats.ListMetricDescriptorsResponse),
  listPodSandboxMetrics: runtimeMethod('ListPodSandboxMetrics', Empty, stats.ListPodSandboxMetricsResponse),
  checkpointContainer: runtimeMethod('CheckpointContainer', container.CheckpointContainerRequest, Empty),
  getContainerEvents: runtimeMethod('GetContainerEvents', Empty, container.ContainerEventResponse),
};

/** CRI's ImageService. */
export const imageService = {
  listImages: imageMethod('ListImages', image.ListImagesRequest, image.ListImagesResponse),
  imageStatus: imageMethod('ImageStatus', image.ImageSpecRequest, image.ImageStatusResponse),
  pullImage: imageMethod('PullImage', image.PullImageRequest, image.PullImageResponse),
  removeImage: imageMethod('RemoveImage', image.ImageSpecRequest, Empty),
  imageFsInfo: imageMethod('ImageFsInfo', Empty, image.ImageFsInfoResponse),
};
