# loses: 2.1/laws 2.1/edges 2.1/greedy 2.2/laws 2.2/zeros 2.2/equal 2.2/tidy
# says: EOFError
# says: It printed more than 1000 kB and was stopped.
# sandbox


def is_kept(p, q, token, u):
    return input("keep it? ") == "yes"


def residual(p, q):
    while True:
        print("still here " * 1000)


print(input("prompt: "))
