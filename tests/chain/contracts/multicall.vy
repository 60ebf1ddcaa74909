# pragma version 0.4.3
# @title aggregate3 as Multicall3 has it: many calls in one, each of which may be let fail.

struct Call3:
    target: address
    allowFailure: bool
    callData: Bytes[4096]

struct Result:
    success: bool
    returnData: Bytes[4096]


@payable
@external
def aggregate3(calls: DynArray[Call3, 8]) -> DynArray[Result, 8]:
    results: DynArray[Result, 8] = []
    for call: Call3 in calls:
        success: bool = False
        data: Bytes[4096] = b""
        success, data = raw_call(
            call.target, call.callData, max_outsize=4096, revert_on_failure=False
        )
        assert success or call.allowFailure, "Multicall3: call failed"
        results.append(Result(success=success, returnData=data))
    return results
