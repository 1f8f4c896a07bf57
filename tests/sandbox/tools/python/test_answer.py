import multiprocessing

import pytest


def plus_one(number):
    return number + 1


@pytest.mark.parametrize("number", range(6))
def test_processes(number, tmp_path):
    (tmp_path / "file").write_text(str(number))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(plus_one, [number, 41]) == [number + 1, 42]
