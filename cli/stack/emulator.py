"""Starts MiniStack with what it lacks for our template; runs in the stack's own tool environment.

The emulator is pinned by hash, so the functions that are wrapped here are the ones that were read. It does not know:
  * `ApiKeySourceType: AUTHORIZER`: the key that counts against the usage plan is the authorizer's `usageIdentifierKey`;
  * `x-amazon-apigateway-gateway-responses` in an API's body, which is how SAM writes `GatewayResponses`;
  * the resources of `ssm:GetParameters` and `ssm:GetParametersByPath`, which it only lets pass by `Resource: "*"`;
  * `bedrock:InvokeModel` as the permission to `Converse`;
  * the class of what a function raises as the name of its error;
  * a log stream as that of one environment: it begins one for every invocation.
AWS does all of it; with them the template that is tested is the one that ships. And it unpacks a layer anew for every
environment of a function, which takes longer than all the rest of its start; here they share one copy.
"""

import importlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote
from weakref import WeakKeyDictionary

_GATEWAY_RESPONSES = "x-amazon-apigateway-gateway-responses"
_CONVERSE_ACTIONS = {
    "bedrock:Converse": "bedrock:InvokeModel",
    "bedrock:ConverseStream": "bedrock:InvokeModelWithResponseStream",
}
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?::.*)?$", re.MULTILINE)
"""The last line of a traceback, which is not indented."""
_usage_key: ContextVar[str | None] = ContextVar("usage_key", default=None)
_more_parameters: ContextVar[Sequence[str]] = ContextVar("more_parameters", default=())
_process: ContextVar[Any] = ContextVar("process", default=None)


def take_keys_from_the_authorizer(gateway: Any) -> None:
    """Let an API whose key source is AUTHORIZER count by the key that its authorizer names."""
    invoke, authorize, key_of = (
        gateway._invoke_authorizer_lambda,
        gateway._authorize_request_v1,
        gateway._api_key_from_request,
    )

    async def invoke_and_carry_the_key(*args: Any, **kwargs: Any) -> Any:
        result = await invoke(*args, **kwargs)
        policy = _parsed(result.get("body")) if isinstance(result, dict) else None
        if isinstance(policy, dict) and policy.get("usageIdentifierKey"):
            # The context is what the emulator caches with the policy; `authorize_and_take_the_key` removes it again.
            policy["context"] = {**(policy.get("context") or {}), "usageIdentifierKey": policy["usageIdentifierKey"]}
            result = {**result, "body": policy}
        return result

    async def authorize_and_take_the_key(api_id: str, *args: Any, **kwargs: Any) -> Any:
        error, context = await authorize(api_id, *args, **kwargs)
        told = dict(context or {})
        key = told.pop("usageIdentifierKey", None)
        by_authorizer = (gateway._rest_apis.get(api_id) or {}).get("apiKeySource") == "AUTHORIZER"
        _usage_key.set(key if by_authorizer else None)
        return error, told or context

    gateway._invoke_authorizer_lambda = invoke_and_carry_the_key
    gateway._authorize_request_v1 = authorize_and_take_the_key
    gateway._api_key_from_request = lambda headers: _usage_key.get() or key_of(headers)


def read_whole_apis(gateway: Any, provisioners: Any) -> None:
    """Let CloudFormation set an API's key source and the gateway responses that its body holds."""
    create = provisioners._apigw_rest_api_create

    def create_whole(logical_id: str, properties: Mapping[str, Any], stack_name: str) -> Any:
        created = create(logical_id, properties, stack_name)
        api_id = created[0]
        gateway._rest_apis[api_id]["apiKeySource"] = properties.get("ApiKeySourceType", "HEADER")
        for kind, response in (properties.get("Body") or {}).get(_GATEWAY_RESPONSES, {}).items():
            _put_gateway_response(gateway, api_id, kind, response)
        return created

    provisioners._apigw_rest_api_create = create_whole
    provisioners._RESOURCE_HANDLERS["AWS::ApiGateway::RestApi"]["create"] = create_whole


def _put_gateway_response(gateway: Any, api_id: str, kind: str, response: Mapping[str, Any]) -> None:
    status, _headers, body = gateway._put_gateway_response(
        api_id,
        kind,
        {
            "statusCode": str(response["statusCode"]),
            "responseParameters": response.get("responseParameters", {}),
            "responseTemplates": response.get("responseTemplates", {}),
        },
    )
    if status >= 400:
        raise ValueError(f"gateway response {kind} was refused: {body!r}")


def guard_parameters(actions: Any, evaluator: Any) -> None:
    """Let IAM judge every parameter, or the path, that a call to Parameter Store names."""
    resource_of, enforce = actions.extract_resource_arn, evaluator.enforce

    def resource_of_parameters(service: str, *rest: Any) -> Any:
        *_request, body, _query, region, account_id = rest
        names = _parameters_named(body) if service == "ssm" else []
        arns = [f"arn:aws:ssm:{region}:{account_id}:parameter/{name.lstrip('/')}" for name in names]
        _more_parameters.set(arns[1:])
        return arns[0] if arns else resource_of(service, *rest)

    def enforce_on_all(access_key: str, action: str, service: str, *rest: Any, **keywords: Any) -> Any:
        denied = enforce(access_key, action, service, *rest, **keywords)
        for arn in _more_parameters.get() if service == "ssm" else ():
            denied = denied or enforce(access_key, action, service, *rest, **{**keywords, "resource_arn": arn})
        return denied

    actions.extract_resource_arn = resource_of_parameters
    evaluator.enforce = enforce_on_all


def name_converse_as_iam_does(actions: Any) -> None:
    """Let IAM judge Bedrock's `Converse` as what it is there: `bedrock:InvokeModel` on the model's plain ARN."""
    action_of, resource_of = actions.extract_iam_action, actions.extract_resource_arn

    def iam_action(*request: Any) -> Any:
        action = action_of(*request)
        return _CONVERSE_ACTIONS.get(action, action)

    def resource_arn(service: str, *rest: Any) -> Any:
        arn = resource_of(service, *rest)
        return unquote(arn) if service == "bedrock-runtime" and isinstance(arn, str) else arn

    actions.extract_iam_action = iam_action
    actions.extract_resource_arn = resource_arn


def tell_error_types(functions: Any) -> None:
    """Let a function that raises be told by its exception's class, which is what a state machine's Retry names."""
    execute = functions._execute_function_warm

    def execute_and_name(*args: Any, **kwargs: Any) -> Any:
        result = execute(*args, **kwargs)
        body = result.get("body") if isinstance(result, dict) else None
        if isinstance(body, dict) and body.get("errorType") == "Runtime.HandlerError":
            raised = _RAISED.findall(result.get("log") or "")
            if raised:
                return {**result, "body": {**body, "errorType": raised[-1].rpartition(".")[2]}}
        return result

    functions._execute_function_warm = execute_and_name


def share_layers(runtime: Any, functions: Any) -> None:
    """Let environments read a layer where it lies unpacked, as in Lambda; by what the emulator has for Docker."""
    spawn = runtime.Worker._spawn

    def spawn_on_shared_layers(worker: Any) -> None:
        own = worker.config
        packed = filter(None, map(functions._resolve_layer_zip, own.get("Layers", [])))
        folders = [functions._docker_extracted_dir(content, "layer") for content in packed]
        variables = {
            **own.get("Environment", {}).get("Variables", {}),
            "_LAMBDA_LAYERS_DIRS": os.pathsep.join(folders),
        }
        worker.config = {**own, "Layers": [], "Environment": {"Variables": variables}}
        try:
            spawn(worker)
        finally:
            worker.config = own

    runtime.Worker._spawn = spawn_on_shared_layers


def keep_log_streams(runtime: Any, functions: Any) -> None:
    """Let all that one environment prints be in one log stream, as in Lambda: it tells who answered a request."""
    invoke, emit, new_id = runtime.Worker.invoke, functions._emit_lambda_logs, functions.new_uuid
    streams: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def invoke_and_note(worker: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return invoke(worker, *args, **kwargs)
        finally:
            _process.set(worker._proc)

    def emit_into_its_stream(*args: Any, **kwargs: Any) -> None:
        try:
            emit(*args, **kwargs)
        finally:
            _process.set(None)

    def stream_or_new_id() -> str:
        process = _process.get()
        return new_id() if process is None else streams.setdefault(process, new_id())

    runtime.Worker.invoke = invoke_and_note
    functions._emit_lambda_logs = emit_into_its_stream
    functions.new_uuid = stream_or_new_id


def _parameters_named(body: bytes) -> list[str]:
    try:
        asked = json.loads(body or b"{}")
    except ValueError:
        return []
    named = asked.get("Names") or [asked.get("Path")] if isinstance(asked, dict) else []
    return [name for name in named if isinstance(name, str)]


def _parsed(body: Any) -> Any:
    return json.loads(body) if isinstance(body, str | bytes) and body else body


def main() -> None:
    gateway = importlib.import_module("ministack.services.apigateway_v1")
    provisioners = importlib.import_module("ministack.services.cloudformation.provisioners")
    take_keys_from_the_authorizer(gateway)
    read_whole_apis(gateway, provisioners)
    functions = importlib.import_module("ministack.services.lambda_svc")
    tell_error_types(functions)
    runtime = importlib.import_module("ministack.core.lambda_runtime")
    share_layers(runtime, functions)
    keep_log_streams(runtime, functions)
    actions = importlib.import_module("ministack.core.iam_actions")
    name_converse_as_iam_does(actions)
    guard_parameters(actions, importlib.import_module("ministack.core.iam_evaluator"))
    importlib.import_module("ministack.app").main()


if __name__ == "__main__":
    main()
