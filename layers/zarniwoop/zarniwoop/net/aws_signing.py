"""Headers that prove to AWS who opens a WebSocket: Signature Version 4 over its address, good for five minutes.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
"""

from collections.abc import Mapping

from zarniwoop.contract.failure import AccessRefused, Cause


def websocket_headers(url: str, service: str) -> Mapping[str, str]:
    """For one `wss` URL, with the function's own role. Raises AccessRefused without credentials."""
    import boto3
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    session = boto3.Session()
    credentials = session.get_credentials()
    if credentials is None or session.region_name is None:
        raise AccessRefused("there are no AWS credentials", cause=Cause.CONNECT)
    request = AWSRequest(method="GET", url=f"https://{url.removeprefix('wss://')}")
    SigV4Auth(credentials.get_frozen_credentials(), service, session.region_name).add_auth(request)
    return {name: str(value) for name, value in request.headers.items()}
