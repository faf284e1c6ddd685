// Names of operations in the OpenAPI document: programs that are generated from it call their methods so. One that is not
// listed here gets a name made of its method and path.

interface Operation {
  readonly operationId: string;
  readonly summary: string;
}

const named: Readonly<Record<string, readonly [operationId: string, summary: string]>> = {
  'get /healthz': ['getHealth', 'Whether the process answers'],
  'get /readyz': ['getReadiness', 'Whether database and store answer'],
  'get /openapi.json': ['getOpenApi', 'This document'],

  'post /v1/jobs': ['createJob', 'Post a job'],
  'get /v1/jobs': ['listJobs', 'List jobs'],
  'get /v1/jobs/{id}': ['getJob', 'Get a job with its spec'],
  'post /v1/jobs/{id}/cancel': ['cancelJob', 'Cancel a job'],
  'post /v1/jobs/{id}/pause': ['pauseJob', 'Pause a job'],
  'post /v1/jobs/{id}/resume': ['resumeJob', 'Resume a paused job'],
  'get /v1/jobs/{id}/events': ['listJobEvents', 'Read or follow a job’s events'],
  'get /v1/jobs/{id}/metrics': ['listJobMetrics', 'Read a job’s metrics'],
  'get /v1/jobs/{id}/evaluations': ['listJobEvaluations', 'Read a job’s evaluations'],
  'get /v1/jobs/{id}/samples': ['listJobSamples', 'Read a job’s kept rollouts'],
  'get /v1/jobs/{id}/logs': ['getJobLog', 'Read the log of an attempt'],
  'get /v1/jobs/{id}/checkpoints': ['listJobCheckpoints', 'List a job’s checkpoints'],
  'get /v1/checkpoints/{id}': ['getCheckpoint', 'Get a checkpoint with its files'],
  'get /v1/checkpoints/{id}/files/{name}': ['getCheckpointFile', 'Read a file of a checkpoint'],

  'post /v1/jobs/{id}/retry': ['retryJob', 'Try an ended job again, as a new one'],
  'post /v1/jobs/{id}/fork': ['forkJob', 'Go on from the end of a stage, as a new job'],
  'delete /v1/jobs/{id}': ['deleteJob', 'Delete a job that has ended'],
  'delete /v1/checkpoints/{id}': ['deleteCheckpoint', 'Delete a checkpoint'],
  'post /v1/checkpoints/{id}/pin': ['pinCheckpoint', 'Pin a checkpoint'],
  'delete /v1/checkpoints/{id}/pin': ['unpinCheckpoint', 'Unpin a checkpoint'],

  'get /v1/projects': ['listProjects', 'List projects'],
  'post /v1/projects': ['createProject', 'Make a project'],
  'get /v1/projects/{id}': ['getProject', 'Get a project'],
  'patch /v1/projects/{id}': ['changeProject', 'Change a project’s limits'],
  'get /v1/keys': ['listKeys', 'List keys'],
  'post /v1/keys': ['createKey', 'Make a key'],
  'post /v1/keys/{id}/rotate': ['rotateKey', 'Put a new secret in a key’s place'],
  'delete /v1/keys/{id}': ['revokeKey', 'Revoke a key'],
  'get /v1/audit': ['listAudit', 'Read the audit trail'],
  'get /v1/webhooks': ['listWebhooks', 'List webhooks'],
  'post /v1/webhooks': ['createWebhook', 'Make a webhook'],
  'get /v1/webhooks/{id}': ['getWebhook', 'Get a webhook'],
  'patch /v1/webhooks/{id}': ['changeWebhook', 'Change a webhook'],
  'delete /v1/webhooks/{id}': ['deleteWebhook', 'Delete a webhook'],
  'post /v1/webhooks/{id}/rotate-secret': ['rotateWebhookSecret', 'Put a new secret in its place'],
  'post /v1/webhooks/{id}/test': ['testWebhook', 'Send a test event'],
  'get /v1/webhooks/{id}/deliveries': ['listDeliveries', 'List what a webhook was sent'],
  'post /v1/webhooks/{id}/deliveries/{delivery}/replay': ['replayDelivery', 'Send it again'],
  'get /metrics': ['getMetrics', 'Metrics for Prometheus'],

  'post /v1/datasets': ['createDataset', 'Upload a dataset'],
  'get /v1/datasets': ['listDatasets', 'List datasets'],
  'get /v1/datasets/{id}': ['getDataset', 'Get a dataset with its report'],
  'delete /v1/datasets/{id}': ['deleteDataset', 'Delete a dataset'],
  'post /v1/graders/run': ['runGrader', 'Grade answers'],
  'get /v1/errands/{id}': ['getErrand', 'Get an errand'],
  'post /v1/model-uploads': ['createModelUpload', 'Begin to upload a model'],
  'get /v1/model-uploads/{id}': ['getModelUpload', 'Get an upload of a model'],
  'put /v1/model-uploads/{id}/files/{name}': ['putModelFile', 'Send a file of a model'],
  'get /v1/runners': ['listRunners', 'List runners'],

  'post /v1/chat/completions': ['createChatCompletion', 'Talk to a model'],
  'get /v1/models': ['listModels', 'List the models that are served'],
  'get /v1/models/{model}': ['getModel', 'Get a model that is served'],
  'post /v1/files': ['createFile', 'Upload a file'],
  'get /v1/files': ['listFiles', 'List files'],
  'get /v1/files/{id}': ['getFile', 'Get a file'],
  'delete /v1/files/{id}': ['deleteFile', 'Delete a file'],
  'get /v1/files/{id}/content': ['getFileContent', 'Read a file'],
  'post /v1/fine_tuning/jobs': ['createFineTuningJob', 'Post a fine-tuning job'],
  'get /v1/fine_tuning/jobs': ['listFineTuningJobs', 'List fine-tuning jobs'],
  'get /v1/fine_tuning/jobs/{id}': ['getFineTuningJob', 'Get a fine-tuning job'],
  'post /v1/fine_tuning/jobs/{id}/cancel': ['cancelFineTuningJob', 'Cancel a fine-tuning job'],
  'post /v1/fine_tuning/jobs/{id}/pause': ['pauseFineTuningJob', 'Pause a fine-tuning job'],
  'post /v1/fine_tuning/jobs/{id}/resume': ['resumeFineTuningJob', 'Resume a fine-tuning job'],
  'get /v1/fine_tuning/jobs/{id}/events': ['listFineTuningEvents', 'Read a fine-tuning job’s events'],
  'get /v1/fine_tuning/jobs/{id}/checkpoints': [
    'listFineTuningCheckpoints',
    'List a fine-tuning job’s checkpoints',
  ],

  'post /v1/runner/register': ['registerRunner', 'Register a runner'],
  'post /v1/runner/claim': ['claimJob', 'Claim a job'],
  'post /v1/runner/heartbeat': ['heartbeat', 'Keep a job’s lease'],
  'post /v1/runner/report': ['report', 'Report what happened in a job'],
  'post /v1/runner/checkpoints': ['commitCheckpoint', 'Commit a checkpoint'],
  'post /v1/runner/stage-ends': ['getStageEnd', 'Find the end of a stage'],
  'post /v1/runner/finish': ['finishAttempt', 'Finish an attempt'],
  'post /v1/runner/errands/claim': ['claimErrand', 'Claim an errand'],
  'post /v1/runner/errands/heartbeat': ['errandHeartbeat', 'Keep an errand’s lease'],
  'post /v1/runner/errands/finish': ['finishErrand', 'Finish an errand'],
  'post /v1/runner/serve': ['registerServing', 'Register a runner that serves a model'],
  'post /v1/runner/serve/heartbeat': ['servingHeartbeat', 'Keep serving'],
  'post /v1/runner/serve/stop': ['stopServing', 'Stop serving'],
};

export function operationOf(method: string, path: string, description: string | undefined): Operation {
  const listed = named[`${method} ${path}`];
  if (listed !== undefined) return { operationId: listed[0], summary: listed[1] };
  const words = path
    .replace(/^\/v1\//, '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  const capital = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return {
    operationId: `${method}${capital}`,
    summary: description?.split(/[.:] /)[0] ?? `${method.toUpperCase()} ${path}`,
  };
}
