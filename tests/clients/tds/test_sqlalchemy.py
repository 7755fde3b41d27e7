"""SQLAlchemy: tables made from classes, rows written and read through its ORM, and a schema read back."""

import datetime
import time
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote_plus

import pytest
import sqlalchemy as sa
from client import ALL, HERE, Client
from servers import Servers
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

# As long as a machine may take that does other things too.
LEAVING_SECONDS = 60
DIALECTS = {"pymssql": "mssql+pymssql", "mssql-python": "mssql+mssqlpython", "pyodbc": "mssql+pyodbc"}


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.Unicode(40), unique=True)
    fee: Mapped[Decimal] = mapped_column(sa.Numeric(10, 2))
    seen: Mapped[datetime.datetime] = mapped_column(sa.DateTime, server_default=sa.func.getdate())
    is_known: Mapped[bool] = mapped_column(default=True)
    key: Mapped[uuid.UUID | None]
    born: Mapped[datetime.date | None]
    weight: Mapped[float | None] = mapped_column(sa.Float(53))
    note: Mapped[str | None] = mapped_column(sa.UnicodeText)
    picture: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    books: Mapped[list["Book"]] = relationship(back_populates="author", order_by="Book.id")


class Book(Base):
    __tablename__ = "book"
    __table_args__ = (sa.CheckConstraint("pages > 0", name="has_pages"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(sa.ForeignKey("author.id"), index=True)
    title: Mapped[str] = mapped_column(sa.String(20))
    pages: Mapped[int]
    author: Mapped[Author] = relationship(back_populates="books")


def engine_of(client: Client, servers: Servers, database: str, **options: object) -> sa.Engine:
    server = servers.of("require")
    # Of connections that are closed none is kept by the drivers themselves.
    if client.name == "mssql-python":
        import mssql_python

        mssql_python.pooling(enabled=False)
    if client.name == "pyodbc":
        import pyodbc

        pyodbc.pooling = False
        parts = f"DRIVER={odbc_driver()};SERVER=127.0.0.1,{server.port};UID=sa;PWD={{{server.password}}}"
        parts += f";Encrypt=yes;TrustServerCertificate=yes;Database={database}"
        return sa.create_engine("mssql+pyodbc:///?odbc_connect=" + quote_plus(parts), **options)
    settings = {"Encrypt": "yes", "TrustServerCertificate": "yes"} if client.name == "mssql-python" else {}
    url = sa.URL.create(
        DIALECTS[client.name], "sa", server.password, "127.0.0.1", server.port, database, query=settings
    )
    return sa.create_engine(url, **options)


def odbc_driver() -> Path:
    """Microsoft's ODBC driver, in the wheel of mssql-python."""
    (wheel,) = (HERE.parents[2] / ".venv/lib").glob("python*/site-packages/mssql_python_odbc")
    (library,) = wheel.glob("libs/linux/debian_ubuntu/x86_64/lib/libmsodbcsql-*.so*")
    return library


@pytest.fixture(params=[one for one in ALL if one.name in DIALECTS], ids=lambda one: one.name)
def engine(request: pytest.FixtureRequest, servers: Servers) -> Iterator[sa.Engine]:
    """In a database of its own."""
    name = f"a_{request.param.name.replace('-', '_')}"
    master = engine_of(request.param, servers, "master", isolation_level="AUTOCOMMIT")
    with master.connect() as connection:
        connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name}"))
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine = engine_of(request.param, servers, name)
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()
    with master.connect() as connection:
        wait_until_unused(connection, name)
        connection.execute(sa.text(f"DROP DATABASE {name}"))
    master.dispose()


def wait_until_unused(connection: sa.Connection, database: str) -> None:
    """A session that has ended is gone a moment later; a database that is in use is not dropped, as in SQL Server."""
    deadline = time.monotonic() + LEAVING_SECONDS
    using = sa.text("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE database_id = DB_ID(:name)")
    while left := connection.scalar(using, {"name": database}):
        assert time.monotonic() < deadline, f"{left} sessions use {database}"


def author(name: str) -> Author:
    return Author(name=name, fee=1, key=uuid.UUID(int=1), picture=b"\x00", note="", weight=0.0, born=datetime.date(2000, 1, 1))


def authors() -> list[Author]:
    return [
        Author(
            name=f"author \u00e9 {i}",
            fee=Decimal("1.25") * i,
            key=uuid.UUID(int=i) if i else None,
            born=datetime.date(1924, 2, 29) if i else None,
            weight=i / 8 if i else None,
            note="\u6f22" * 5000 if i else None,
            # Of several rows in one statement, mssql-python can't ask what a NULL is of, and sends it as text.
            picture=b"\x00\xff" * (i + 1),
            books=[Book(title=f"book {i}.{n}", pages=n + 1) for n in range(i)],
        )
        for i in range(4)
    ]


def test_what_is_written_is_read_again(engine: sa.Engine) -> None:
    with Session(engine) as session:
        session.add_all(authors())
        session.commit()
    with Session(engine) as session:
        found = session.scalars(sa.select(Author).order_by(Author.id)).all()
        assert [one.id for one in found] == [1, 2, 3, 4]
        for one, meant in zip(found, authors(), strict=True):
            for part in ("name", "fee", "key", "born", "weight", "note", "picture"):
                assert getattr(one, part) == getattr(meant, part), part
            assert one.is_known is True and one.seen.year > 2000
            assert [book.title for book in one.books] == [book.title for book in meant.books]


def test_what_is_left_out_is_null(engine: sa.Engine) -> None:
    with Session(engine) as session:
        session.add(Author(name="alone", fee=1))
        session.commit()
        found = session.scalars(sa.select(Author)).one()
        assert (found.key, found.born, found.weight, found.note, found.picture) == (None,) * 5


def test_rows_are_joined_counted_changed_and_deleted(engine: sa.Engine) -> None:
    with Session(engine) as session:
        session.add_all(authors())
        session.flush()
        count = sa.func.count(Book.id)
        joined = sa.select(Author.id, count).join(Book).group_by(Author.id).order_by(count.desc()).limit(2).offset(1)
        assert session.execute(joined).all() == [(3, 2), (2, 1)]
        assert session.scalar(sa.select(sa.func.sum(Author.fee))) == Decimal("7.50")
        assert session.scalars(sa.select(Author.id).where(Author.id.in_([1, 3, 9])).order_by(Author.id)).all() == [1, 3]
        assert session.scalar(sa.select(Author.id).where(Author.note.is_(None))) == 1
        assert session.execute(sa.update(Book).where(Book.pages > 1).values(pages=Book.pages * 10)).rowcount == 3
        assert session.execute(sa.delete(Book).where(Book.pages == 1)).rowcount == 3
        session.rollback()
        assert session.scalar(sa.select(sa.func.count()).select_from(Author)) == 0


def test_many_rows_are_inserted_at_once(engine: sa.Engine) -> None:
    rows = [{"name": f"n{i}", "fee": i, "is_known": i % 2 == 0} for i in range(500)]
    with engine.begin() as connection:
        connection.execute(sa.insert(Author.__table__), rows)
        assert connection.scalar(sa.select(sa.func.count()).select_from(Author)) == 500


def test_what_a_constraint_refuses_is_its_error(engine: sa.Engine) -> None:
    for wrong in ([author("one"), author("ONE")], [Book(author_id=99, title="x", pages=1)]):
        with Session(engine) as session:
            session.add_all(wrong)
            # pymssql makes it an IntegrityError or an OperationalError, as the error comes before columns or after them.
            with pytest.raises(sa.exc.DBAPIError, match="UNIQUE KEY|FOREIGN KEY"):
                session.commit()
    with Session(engine) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Author)) == 0


def test_a_schema_is_read_back(engine: sa.Engine) -> None:
    Base.metadata.create_all(engine)
    found = sa.MetaData()
    found.reflect(engine)
    assert set(found.tables) == {"author", "book"}
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            there = found.tables[table.name].columns[column.name]
            assert (there.nullable, there.primary_key) == (column.nullable, column.primary_key), column
            assert str(there.type.compile(engine.dialect)).split(" COLLATE ")[0] == column.type.compile(engine.dialect)
    (key,) = found.tables["book"].foreign_keys
    assert key.target_fullname == "author.id"
    inspector = sa.inspect(engine)
    assert [index["column_names"] for index in inspector.get_indexes("book")] == [["author_id"]]
    assert inspector.has_table("author") and not inspector.has_table("nothing")
    Base.metadata.drop_all(engine)
    assert sa.inspect(engine).get_table_names() == []


def test_schemas_are_apart_and_refer_to_each_other(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    parent = sa.Table("parent", metadata, sa.Column("id", sa.Integer, primary_key=True), schema="sales")
    sa.Table("parent", metadata, sa.Column("other", sa.Integer, index=True))
    sa.Table("child", metadata, sa.Column("parent_id", sa.ForeignKey(parent.c.id), primary_key=True), schema="hr.x")
    with engine.begin() as connection:
        for schema in ("sales", "hr.x"):
            connection.execute(sa.schema.CreateSchema(schema, if_not_exists=False))
    # The dialect splits a name at its point unless it is quoted.
    metadata.tables["hr.x.child"].schema = sa.sql.quoted_name("hr.x", quote=True)
    metadata.create_all(engine)
    inspector = sa.inspect(engine)
    assert {"sales", "hr.x", "dbo", "guest"} <= set(inspector.get_schema_names())
    assert inspector.get_table_names("sales") == ["parent"]
    assert inspector.has_table("parent", schema="sales") and not inspector.has_table("child", schema="sales")
    assert [column["name"] for column in inspector.get_columns("parent", "sales")] == ["id"]
    assert [column["name"] for column in inspector.get_columns("parent")] == ["other"]
    (key,) = inspector.get_foreign_keys("child", sa.sql.quoted_name("hr.x", quote=True))
    assert (key["referred_schema"], key["referred_table"]) == ("sales", "parent")
    with engine.begin() as connection:
        connection.execute(parent.insert().values(id=5))
        assert connection.scalar(sa.text("SELECT id FROM sales.parent")) == 5
    metadata.drop_all(engine)


def test_a_global_temporary_table_is_reflected(engine: sa.Engine) -> None:
    name = f"##of_{engine.driver.replace('-', '_')}"
    table = sa.Table(name, sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.Unicode(9)))
    with engine.connect() as connection, engine.connect() as other:
        table.create(connection)
        connection.commit()
        other.execute(table.insert(), [{"id": 1, "name": "one"}, {"id": 2, "name": None}])
        other.commit()
        assert connection.execute(sa.select(table.c.name).order_by(table.c.id)).scalars().all() == ["one", None]
        inspector = sa.inspect(connection)
        assert inspector.has_table(name)
        assert [column["name"] for column in inspector.get_columns(name)] == ["id", "name"]
        assert inspector.get_pk_constraint(name)["constrained_columns"] == ["id"]
        table.drop(connection)
        connection.commit()
        assert not sa.inspect(other).has_table(name)
