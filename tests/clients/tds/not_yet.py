"""What the server does not do yet.

A test in this list has to fail, and by the server's own word: error 40510 or 40517, which name what is not supported. One
that fails otherwise is a failure; one that passes is too, and leaves the list.
"""

NOT_YET: dict[str, str] = {}
