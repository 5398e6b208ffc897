"""Bedrock: results marked as errors reach the hook; everything else of boto3 is left alone."""

from __future__ import annotations

import boto3
import botocore.client
import botocore.exceptions
import pytest
from opentelemetry.instrumentation.genai.bedrock import BedrockInstrumentor

from otel_footprint.providers import carrying
from otel_footprint.providers.carrying import Carried
from otel_footprint.testing.provider import Error, ScriptedProvider, Text

MODEL = "amazon.nova-lite-v1:0"
KEYS = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}


def result(id_, **more):
    return {"toolResult": {"toolUseId": id_, "content": [{"text": "?"}], **more}}


MESSAGES = [
    {"role": "user", "content": [{"text": "Where?"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "get_order", "input": {}}}]},
    {"role": "user", "content": [result("a", status="error"), result("b", status="success"), result("c")]},
]
EXPECTED = Carried(error_result_ids=frozenset({"a"}))


@pytest.fixture
def on(observed):
    instrumentor = BedrockInstrumentor()
    instrumentor.instrument(tracer_provider=observed.sink.tracer_provider, completion_hook=observed)
    yield observed
    instrumentor.uninstrument()


def client(provider):
    return boto3.client("bedrock-runtime", endpoint_url=provider.bedrock_url, **KEYS)


def test_converse_and_its_stream(on):
    with ScriptedProvider(Text("It failed."), repeat=True) as provider:
        bedrock = client(provider)
        answer = bedrock.converse(modelId=MODEL, messages=MESSAGES)
        assert answer["output"]["message"]["content"] == [{"text": "It failed."}]
        assert len(list(bedrock.converse_stream(modelId=MODEL, messages=MESSAGES)["stream"])) == 7
    assert on.calls == [EXPECTED, EXPECTED]
    assert len(on.registry) == 0


def test_a_call_that_fails(on):
    failure = pytest.raises(botocore.exceptions.ClientError, match="scripted error")
    with ScriptedProvider(Error(400)) as provider, failure:
        client(provider).converse(modelId=MODEL, messages=MESSAGES)
    assert on.calls == [EXPECTED]


def test_odd_arguments_fail_as_without_us(on, caplog):
    with ScriptedProvider(Text("never")) as provider:
        with pytest.raises(botocore.exceptions.ParamValidationError):
            client(provider).converse(modelId=MODEL, messages=["?"])
        assert provider.requests == ()
    assert "internal error" not in caplog.text


def test_uninstalling_restores_boto3():
    before = vars(botocore.client.BaseClient)["_make_request"]
    carrying.install(carrying.CarryRegistry())
    assert vars(botocore.client.BaseClient)["_make_request"] is not before
    carrying.uninstall()
    assert vars(botocore.client.BaseClient)["_make_request"] is before
